"""`fairrec trend`: groups over releases."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from fairrec.cli.parameters import Flags, Given, typer_command
from fairrec.cli.shared import (
    ForceOption,
    FormatOption,
    NoReportOption,
    QuietOption,
    VerboseOption,
    page_path,
    print_as,
    say_written,
)
from fairrec.core.option_types import Folder
from fairrec.core.options import OUTPUT, TABLES, Option
from fairrec.trends.options import TrendOptions


@typer_command
def trend_command(
    *,
    audits: Annotated[
        list[Path] | None, typer.Argument(help="Folders of audits, the oldest release first.")
    ] = None,
    history: Annotated[
        Folder | None,
        Option("A folder with an audit of each release in its sub-folders", TABLES),
    ] = None,
    options: Annotated[Given, Flags(TrendOptions)],
    out: Annotated[Folder | None, Option("Folder for trend.json and the page", OUTPUT)] = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    format_: FormatOption = "text",
    verbose: VerboseOption = False,
    quiet: QuietOption = False,
) -> None:
    """Follow groups over releases, and see since when one is served worse."""
    from fairrec.result.folder import TREND, names_to_replace
    from fairrec.trends.trend import trend
    from fairrec.trends.words import trend_answer, trend_markdown

    if out is not None:
        names_to_replace(TREND, out, force, [folder / "result.json" for folder in audits or ()])
    command = shlex.join(["fairrec", *sys.argv[1:]])
    result = trend(audits or (), history=history, command=command, **options)
    if out is not None:
        result.save(out, report=not no_report, force=force)
    print_as(
        format_,
        verbose=verbose,
        page=page_path(out, no_report=no_report),
        json=result.to_json,
        markdown=lambda: trend_markdown(result.summary),
        answer=lambda: trend_answer(result.summary),
    )
    say_written(out, "trend.json", no_report=no_report, quiet=quiet)
