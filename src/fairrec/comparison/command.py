"""`fairrec compare`: two audits side by side."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairrec.cli.parameters import Here, takes_options
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
from fairrec.core.audit_options import Tolerance
from fairrec.core.kinds import FOLDER
from fairrec.core.options import OUTPUT, Option

if TYPE_CHECKING:
    from fairrec.comparison.result import Comparison


@takes_options
def compare_command(
    *,
    base: Annotated[Path, typer.Argument(help="Folder of the audit to compare with: its --out.")],
    candidate: Annotated[Path, typer.Argument(help="Folder of the audit of what is new.")],
    tolerance: Annotated[Tolerance, Here(default="as in the candidate's audit")] = None,
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
    from fairrec.comparison.compare import compare
    from fairrec.result.folder import AUDIT, COMPARISON, names_to_replace

    if out is not None:
        read = [folder / AUDIT.known_by for folder in (base, candidate)]
        names_to_replace(COMPARISON, out, force, read)
    command = shlex.join(["fairrec", *sys.argv[1:]])
    found = compare(base, candidate, tolerance=tolerance, command=command)
    if out is not None:
        found.save(out, report=not no_report, force=force)
    _print(found, format_)
    if out is not None and not quiet:
        page = "" if no_report else ", report.html"
        say(f"Written to {out}: comparison.json, changes.parquet{page}")


def _print(found: Comparison, format_: Format) -> None:
    from fairrec.comparison.view import build_comparison_view
    from fairrec.report.text.markdown import comparison_markdown
    from fairrec.report.text.terminal import print_comparison

    print_as(
        format_,
        json=found.to_json,
        markdown=lambda: comparison_markdown(build_comparison_view(found.summary)),
        text=lambda console: print_comparison(build_comparison_view(found.summary), console),
    )
