"""`fairrec mitigate` and `fairrec rerank`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

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
    print_as,
    say,
    shown_progress,
)
from fairrec.core.audit_options import AboutOptions, AuditOptions, Threads
from fairrec.core.errors import InputError, NothingToMitigateError
from fairrec.core.kinds import FILE, FOLDER
from fairrec.core.options import OUTPUT, Option
from fairrec.inputs.table_options import (
    GROUPED,
    HELD_OUT,
    ITEM_SIDE,
    OTHER_LISTS,
    VALUES,
    TableOptions,
)
from fairrec.mitigation.options import MitigationOptions, ReportedMetrics, Validation
from fairrec.mitigation.sources import settings_of

NOTHING_TO_MITIGATE = 3
"""An exit code: nothing is found, as where a gate is inconclusive, and no file is written."""


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
    metrics: Annotated[ReportedMetrics, Here(default="the audit's, or, {}")] = None,
    options: Annotated[
        Given,
        FieldsOf(
            AuditOptions,
            without=("tolerance", "top", "threads", "max_undefined"),
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
        from fairrec.mitigation.mitigate import mitigate
        from fairrec.result.folder import MITIGATION, names_to_replace

        if out is not None:
            if out.resolve() == source.resolve():
                raise InputError(
                    f"--out {out} is what is to be mitigated, and would be overwritten. Name "
                    "another folder."
                )
            names_to_replace(MITIGATION, out, force)
        progress("reading", 0, 0)
        single = {"validation": validation, "metrics": metrics}
        named = {name: value for name, value in single.items() if value is not None}
        settings = {**settings_of(source), **tables, **options, **about, **named}
        need(settings, "users", "by", command="mitigate")
        if out is not None:
            read = (*settings.values(), *plan.values())
            paths = [path for path in read if isinstance(path, Path)]
            names_to_replace(MITIGATION, out, force, paths)
        try:
            result = mitigate(
                **settings,
                **plan,
                threads=threads,
                progress=progress,
                command=shlex.join(["fairrec", *sys.argv[1:]]),
            )
        except NothingToMitigateError as nothing:
            say(str(nothing))
            raise typer.Exit(NOTHING_TO_MITIGATE) from nothing
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
        from fairrec.core.atomic_io import write_table
        from fairrec.mitigation.mitigate import rerank

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


def _print(summary: Any, output_format: Format) -> None:
    from fairrec.mitigation.view import build_mitigation_view
    from fairrec.report.text.markdown import mitigation_markdown
    from fairrec.report.text.terminal import print_mitigation

    print_as(
        output_format,
        json=lambda: summary.model_dump_json(indent=2),
        markdown=lambda: mitigation_markdown(build_mitigation_view(summary)),
        text=lambda console: print_mitigation(build_mitigation_view(summary), console),
    )
