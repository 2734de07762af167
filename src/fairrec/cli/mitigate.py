"""`fairrec mitigate`, `fairrec rerank` and `fairrec rerankers`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from fairrec.cli.parameters import FieldsOf, Given, Here, takes_options
from fairrec.cli.shared import (
    DebugOption,
    ForceOption,
    Format,
    FormatOption,
    LogOption,
    NoReportOption,
    QuietOption,
    need,
    need_torch,
    print_as,
    say,
    shown_progress,
    stdout,
)
from fairrec.core.audit_options import AboutOptions, AuditOptions, Threads
from fairrec.core.errors import InputError, plain
from fairrec.core.kinds import FILE, FOLDER
from fairrec.core.options import OUTPUT, Option
from fairrec.inputs.table_options import (
    GROUPED,
    HELD_OUT,
    ITEM_SIDE,
    OTHER_LISTS,
    VALUES,
    ByItems,
    TableOptions,
)
from fairrec.mitigation.options import MitigationOptions, ReportedMetrics, Validation

if TYPE_CHECKING:
    from fairrec.result.run_file import Place

BY_TABLES = "name the tables: fairrec mitigate PREDICTIONS --users USERS --by ..."
ELSEWHERE = f"Run this where the audit was run, or {BY_TABLES}"


@takes_options
def mitigate_command(
    *,
    source: Annotated[
        Path,
        typer.Argument(help="Folder of an audit or of a trained run, or a table of predictions."),
    ],
    plan: Annotated[Given, FieldsOf(MitigationOptions)],
    validation: Annotated[Validation, Here(default="the run's, or {}")] = None,
    tables: Annotated[
        Given,
        FieldsOf(TableOptions, without=("given", "metrics", *VALUES, *ITEM_SIDE, *OTHER_LISTS)),
    ],
    by_items: ByItems = (),
    metrics: Annotated[ReportedMetrics, Here(default="the audit's, or, {}")] = None,
    options: Annotated[
        Given,
        FieldsOf(
            AuditOptions,
            without=("correction", "matters", "top", "threads", "max_undefined"),
            default="the audit's, or {}",
        ),
    ],
    threads: Threads = None,
    about: Annotated[Given, FieldsOf(AboutOptions, default="the audit's, or {}")],
    out: Annotated[
        Path | None,
        Option(FOLDER, "Folder for the re-ranked lists, the re-ranker, the page", OUTPUT),
    ] = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    format_: FormatOption = Format.text,
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Re-rank the lists of badly served groups, and show the effect on held-out targets."""
    with shown_progress(quiet, log) as progress:
        from fairrec.result.own_folder import MITIGATION, names_to_replace
        from fairrec.workflows.mitigate import mitigate

        if out is not None:
            if out.resolve() == source.resolve():
                raise InputError(
                    f"--out {out} is what is to be mitigated, and would be overwritten. Name "
                    "another folder."
                )
            names_to_replace(MITIGATION, out, force)
        progress("reading", 0, 0)
        single = {"validation": validation, "metrics": metrics, "by_items": by_items}
        named = {name: value for name, value in single.items() if value is not None}
        settings = {**_settings_of(source), **tables, **options, **about, **named}
        need(settings, "users", "by", command="mitigate")
        if out is not None:
            read = (*settings.values(), *plan.values())
            paths = [path for path in read if isinstance(path, Path)]
            names_to_replace(MITIGATION, out, force, paths)
        result = mitigate(
            **settings,
            **plan,
            threads=threads,
            progress=progress,
            command=shlex.join(["fairrec", *sys.argv[1:]]),
        )
        if out is not None:
            progress("writing", 0, 0)
            result.save(out, report=not no_report, force=force)
    _print(result.summary, format_)
    if out is not None and not quiet:
        page = "" if no_report else ", report.html"
        say(
            f"Written to {out}: mitigation.json, reranker.json, predictions.parquet, "
            f"changes.parquet, and the audit of the new lists{page}"
        )


@takes_options
def rerank_command(
    *,
    reranker: Annotated[Path, typer.Argument(help="reranker.json of fairrec mitigate.")],
    predictions: Annotated[Path, typer.Argument(help="Scored candidates, with labels or without.")],
    tables: Annotated[
        Given,
        FieldsOf(TableOptions, without=(*GROUPED, *HELD_OUT, *VALUES, *ITEM_SIDE, *OTHER_LISTS)),
    ],
    threads: Threads = None,
    out: Annotated[Path, Option(FILE, "File to write: Parquet, or CSV by its ending", OUTPUT)],
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Apply a re-ranker to new candidate lists."""
    with shown_progress(quiet, log) as progress:
        from fairrec.core.files import write_table
        from fairrec.workflows.rerank import rerank

        need(tables, "users", command="rerank")
        progress("re-ranking", 0, 0)
        table = rerank(reranker, predictions, **tables, threads=threads)
        write_table(table, out)
        n_changed = table.filter(table["score"] != table["model_score"])["user_id"].n_unique()
    if not quiet:
        say(
            f"Written: {out} ({table.height:,} candidates; the order changed for {n_changed:,} of "
            f"{table['user_id'].n_unique():,} users)"
        )


@takes_options
def rerankers_command(*, debug: DebugOption = False) -> None:
    """List the re-rankers."""
    from fairrec.mitigation.reranker import RERANKERS

    console = stdout()
    for name in RERANKERS:
        kind = RERANKERS[name]
        made_for = f" (made for {', '.join(kind.serves)})" if kind.serves else ""
        needs = "".join(f" (needs --{table})" for table in sorted(kind.needs - {"labels"}))
        console.print(Text.assemble((f"{name:<22}", "bold"), kind.about, made_for, needs))


def _settings_of(source: Path) -> dict[str, Any]:
    """What a run or an audit says about itself, as arguments of `mitigate`."""
    from fairrec.core.folders import settle

    settle(source)
    # an audit has a run.json too, and a trained run may have an older audit beside it
    is_audit = (source / "result.json").is_file()
    if (source / ("model.safetensors" if is_audit else "run.json")).is_file():
        return _of_run(source)
    if is_audit:
        return _of_audit(source)
    if not source.exists():
        raise InputError(f"{source}: there is no such folder or table.")
    if source.is_dir():
        raise InputError(
            f"{source}: holds neither an audit (result.json) nor a trained run (run.json)."
        )
    return {"predictions": source}


def _of_run(folder: Path, sha256: str | None = None) -> dict[str, Any]:
    need_torch()
    from fairrec.models.runs.run import load_run

    run = load_run(folder, "auto", sha256)
    return {
        "predictions": run.predictions("test"),
        "validation": run.predictions("validation"),
        **run.tables(),
    }


def _of_audit(folder: Path) -> dict[str, Any]:
    """The tables an audit read, where they are still as they were, and its options."""
    from fairrec.inputs.formats import checksum, files_of
    from fairrec.result.run_file import load_audit_run
    from fairrec.result.saved import load_saved

    summary, sums = load_saved(folder)
    if (folder / "mitigation.json").exists():
        raise InputError(
            f"{folder}: holds a mitigation. Name the audit or the run it was made from, or the "
            "tables: fairrec mitigate PREDICTIONS --users USERS --by ..."
        )
    if summary.search.model_identity and "run" not in summary.inputs:
        raise InputError(
            f"{folder}: the scores of this audit came from a model that was asked for them. Write "
            "them to a table with a column score first: fairrec mitigate PREDICTIONS --users ..."
        )
    if "values" in summary.inputs:
        raise InputError(
            f"{folder}: this audit is of values per user. There are no lists to re-rank; name a "
            "table of them: fairrec mitigate PREDICTIONS --users USERS --by ..."
        )
    pooled = {name for name, result in summary.metrics.items() if result.sd is None}
    options: dict[str, Any] = {
        "by": summary.by,
        "columns": summary.columns,
        "relevant": summary.relevant,
        "missing_lists": summary.missing_lists,
        "metrics": [name for name in summary.metrics if name not in pooled],
        "depth": summary.depth,
        "min_support": summary.coverage.min_support,
        "permutations": summary.permutations,
        "alpha": summary.alpha,
        "seed": summary.seed,
        "title": summary.title,
        "author": summary.author,
    }
    if summary.model is not None:
        options |= {"model_name": summary.model.name, "model_version": summary.model.version}
    run = load_audit_run(folder, sums)
    if run is None:
        raise InputError(
            f"{folder}: has no run.json, which says where the tables of this audit are: it is not "
            "there in results of older versions, and not passed on with a result. Audit again, or "
            f"{BY_TABLES}"
        )
    read = dict(summary.inputs)
    scored = {}
    if trained := read.pop("run", None):
        place = run.inputs["run"]
        if (found := _found(place, lambda path: (path / "run.json").is_file())) is None:
            raise InputError(
                f"{folder}: the run of this audit, {plain(place.given, 300)}, is not there. "
                f"{ELSEWHERE}"
            )
        scored = _of_run(found, trained.sha256)
        del read["predictions"]
    tables = {}
    for name, table in read.items():
        if name not in run.inputs:
            raise InputError(
                f"{folder}: the {name} table of this audit was in memory, so it cannot be read "
                f"again. Audit files, or {BY_TABLES}"
            )
        place = run.inputs[name]
        if (found := _found(place, lambda path: bool(files_of(path)))) is None:
            raise InputError(
                f"{folder}: the {name} table of this audit, {plain(place.given, 300)}, is not "
                f"there. {ELSEWHERE}"
            )
        if checksum(found) != table.sha256:
            raise InputError(
                f"{folder}: {plain(found, 300)} has changed since this audit. Audit again, or name "
                "the tables."
            )
        tables[name] = found
    return {**scored, **tables, **options}


def _found(place: Place, is_there: Callable[[Path], bool]) -> Path | None:
    """Where it was, or where the path as it was given leads to from here."""
    paths = (Path(place.absolute), Path(place.given))
    return next((path for path in paths if is_there(path)), None)


def _print(summary: Any, output_format: Format) -> None:
    from fairrec.report.mitigation.view import build_mitigation_view
    from fairrec.report.text.markdown import mitigation_markdown
    from fairrec.report.text.terminal import print_mitigation

    print_as(
        output_format,
        json=lambda: summary.model_dump_json(indent=2),
        markdown=lambda: mitigation_markdown(build_mitigation_view(summary)),
        text=lambda console: print_mitigation(build_mitigation_view(summary), console),
    )
