"""`fairrec mitigate` and `fairrec rerank`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

import typer

from fairrec.auditing.saved_settings import read_mitigation_settings
from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import (
    ForceOption,
    FormatOption,
    NoReportOption,
    QuietOption,
    VerboseOption,
    need,
    page_path,
    print_as,
    say,
    say_written,
    shown_progress,
)
from fairrec.core.audit_options import RAY, About, AuditOptions, Engine, Threads
from fairrec.core.errors import InputError, NothingToMitigateError
from fairrec.core.option_types import Folder
from fairrec.core.options import OUTPUT, Option, bind, list_changed, select
from fairrec.inputs.table_options import (
    COUNTED,
    GROUPED,
    HELD_OUT,
    ITEM_SIDE,
    OTHER_LISTS,
    VALUES,
    TableOptions,
)
from fairrec.mitigation.options import MitigationOptions, ReportedMetrics, Validation

VALIDATION, METRICS = cast(Option, bind(Validation)), cast(Option, bind(ReportedMetrics))
NOTHING_TO_MITIGATE = 3
"""An exit code: nothing is found, as where a gate is inconclusive, and no file is written."""


@typer_command
def mitigate_command(
    *,
    source: Annotated[
        Path,
        typer.Argument(help="Folder of an audit or of a trained run, or a table of predictions."),
    ],
    plan: Annotated[Given, Flags(MitigationOptions)],
    validation: Annotated[
        Validation, replace(VALIDATION, default=f"the run's, or {VALIDATION.default}")
    ] = None,
    tables: Annotated[
        Given,
        Flags(
            TableOptions,
            without=("adjust_for", "metrics", *VALUES, *ITEM_SIDE, *OTHER_LISTS, *COUNTED),
        ),
    ],
    metrics: Annotated[
        ReportedMetrics, replace(METRICS, default=f"the audit's, or, {METRICS.default}")
    ] = None,
    options: Annotated[
        Given,
        Flags(
            AuditOptions,
            without=("tolerance", "top", "max_undefined"),
            default="the audit's, or {}",
        ),
    ],
    where: Annotated[Given, Flags(Engine, without=RAY)],
    about: Annotated[Given, Flags(About, default="the audit's, or {}")],
    out: Annotated[
        Folder | None,
        Option("Folder for the re-ranked lists, the re-ranker, the page", OUTPUT),
    ] = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    format_: FormatOption = "text",
    verbose: VerboseOption = False,
    quiet: QuietOption = False,
) -> None:
    """Re-rank the lists of badly served groups, and show the effect on held-out targets."""
    with shown_progress(quiet) as progress:
        from fairrec.mitigation.mitigate import run_mitigation
        from fairrec.result.folder import MITIGATION, names_to_replace

        if out is not None and out.resolve() == source.resolve():
            raise InputError(
                f"--out {out} is what is to be mitigated, and would be overwritten. Name another "
                "folder."
            )
        progress("reading", 0, 0)
        single = {"validation": validation, "metrics": metrics}
        named = {name: value for name, value in single.items() if value is not None}
        settings = {**read_mitigation_settings(source), **tables, **options, **about, **named}
        need(settings, "users", "by", command="mitigate")
        sources = TableOptions(**select(TableOptions, settings))
        if out is not None:
            read = (*list_changed(sources).values(), validation, plan.get("groups"))
            paths = [path for path in read if isinstance(path, Path)]
            names_to_replace(MITIGATION, out, force, paths)
        command = shlex.join(["fairrec", *sys.argv[1:]])
        engine = Engine(**where, progress=progress)
        try:
            result = run_mitigation(
                settings["predictions"],
                MitigationOptions(**plan),
                sources,
                AuditOptions(**select(AuditOptions, settings), engine=engine),
                About(**select(About, settings), command=command),
                settings.get("validation"),
            )
        except NothingToMitigateError as nothing:
            say(str(nothing))
            raise typer.Exit(NOTHING_TO_MITIGATE) from nothing
        if out is not None:
            progress("writing", 0, 0)
            result.save(out, report=not no_report, force=force)
    from fairrec.mitigation.words import mitigation_answer, mitigation_markdown

    summary = result.summary
    print_as(
        format_,
        verbose=verbose,
        page=page_path(out, no_report=no_report),
        json=lambda: summary.model_dump_json(indent=2),
        markdown=lambda: mitigation_markdown(summary),
        answer=lambda: mitigation_answer(summary),
    )
    files = "mitigation.json, reranker.json, predictions.parquet, changes.parquet, and the audit"
    say_written(out, f"{files} of the new lists", no_report=no_report, quiet=quiet)


@typer_command
def rerank_command(
    *,
    reranker: Annotated[Path, typer.Argument(help="reranker.json of fairrec mitigate.")],
    predictions: Annotated[Path, typer.Argument(help="Scored candidates, with labels or without.")],
    tables: Annotated[
        Given,
        Flags(
            TableOptions, without=(*GROUPED, *HELD_OUT, *VALUES, *ITEM_SIDE, *OTHER_LISTS, *COUNTED)
        ),
    ],
    threads: Threads = None,
    out: Annotated[Path, Option("File to write: Parquet, or CSV by its ending", OUTPUT)],
    quiet: QuietOption = False,
) -> None:
    """Apply a re-ranker to new candidate lists."""
    with shown_progress(quiet) as progress:
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
