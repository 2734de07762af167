"""`fairrec trend`: groups over releases."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairrec.auditing.options import TrendOptions
from fairrec.cli.parameters import FieldsOf, Given, takes_options
from fairrec.cli.shared import (
    DebugOption,
    ForceOption,
    Format,
    FormatOption,
    NoReportOption,
    QuietOption,
    print_as,
    say,
)
from fairrec.core.kinds import FOLDER
from fairrec.core.options import OUTPUT, TABLES, Option

if TYPE_CHECKING:
    pass


@takes_options
def trend_command(
    *,
    audits: Annotated[
        list[Path] | None, typer.Argument(help="Folders of audits, the oldest release first.")
    ] = None,
    history: Annotated[
        Path | None,
        Option(FOLDER, "A folder with an audit of each release in its sub-folders", TABLES),
    ] = None,
    options: Annotated[Given, FieldsOf(TrendOptions)],
    out: Annotated[
        Path | None, Option(FOLDER, "Folder for trend.json and the page", OUTPUT)
    ] = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    format_: FormatOption = Format.text,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Follow groups over releases, and see since when one is served worse."""
    from fairrec.result.folder import TREND, names_to_replace
    from fairrec.trends.trend import trend
    from fairrec.trends.words import print_trend, trend_markdown, trend_view

    if out is not None:
        names_to_replace(TREND, out, force, [folder / "result.json" for folder in audits or ()])
    command = shlex.join(["fairrec", *sys.argv[1:]])
    result = trend(audits or (), history=history, command=command, **options)
    if out is not None:
        result.save(out, report=not no_report, force=force)
    print_as(
        format_,
        json=result.to_json,
        markdown=lambda: trend_markdown(trend_view(result.summary)),
        text=lambda console: print_trend(trend_view(result.summary), console),
    )
    if out is not None and not quiet:
        say(f"Written to {out}: trend.json{'' if no_report else ', report.html'}")
