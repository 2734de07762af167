"""`fairrec compare` and `fairrec trend`: several audits side by side."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairrec.cli.parameters import FieldsOf, Given, Here, takes_options
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
from fairrec.core.audit_options import Matters
from fairrec.core.kinds import FOLDER
from fairrec.core.options import OUTPUT, TABLES, Option
from fairrec.workflows.options import TrendOptions

if TYPE_CHECKING:
    from fairrec.result.comparison import Comparison


@takes_options
def compare_command(
    *,
    base: Annotated[Path, typer.Argument(help="Folder of the audit to compare with: its --out.")],
    candidate: Annotated[Path, typer.Argument(help="Folder of the audit of what is new.")],
    matters: Annotated[Matters, Here(default="as in the candidate's audit")] = None,
    out: Annotated[
        Path | None, Option(FOLDER, "Folder for comparison.json, changes.parquet, page", OUTPUT)
    ] = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    format_: FormatOption = Format.text,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Compare two audits: how means changed, which groups lost, which lost more than all others."""
    from fairrec.result.folder import AUDIT, COMPARISON, names_to_replace
    from fairrec.workflows.compare import compare

    if out is not None:
        read = [folder / AUDIT.known_by for folder in (base, candidate)]
        names_to_replace(COMPARISON, out, force, read)
    command = shlex.join(["fairrec", *sys.argv[1:]])
    found = compare(base, candidate, matters=matters, command=command)
    if out is not None:
        found.save(out, report=not no_report, force=force)
    _print(found, format_)
    if out is not None and not quiet:
        page = "" if no_report else ", report.html"
        say(f"Written to {out}: comparison.json, changes.parquet{page}")


def _print(found: Comparison, format_: Format) -> None:
    from fairrec.report.comparison.view import build_comparison_view
    from fairrec.report.text.markdown import comparison_markdown
    from fairrec.report.text.terminal import print_comparison

    print_as(
        format_,
        json=found.to_json,
        markdown=lambda: comparison_markdown(build_comparison_view(found.summary)),
        text=lambda console: print_comparison(build_comparison_view(found.summary), console),
    )


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
    from fairrec.report.text.trend import print_trend, trend_markdown, trend_view
    from fairrec.result.folder import TREND, names_to_replace
    from fairrec.workflows.trend import trend

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
