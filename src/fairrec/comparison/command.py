"""`fairrec compare`: two audits side by side."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fairrec.cli.parameters import typer_command
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
from fairrec.core.audit_options import AuditOptions
from fairrec.core.option_types import Folder
from fairrec.core.options import OUTPUT, Option, list_options
from fairrec.core.tolerance import ToleranceType

TOLERANCE = replace(list_options(AuditOptions)["tolerance"], default="as in the candidate's audit")


@typer_command
def compare_command(
    *,
    base: Annotated[Path, typer.Argument(help="Folder of the audit to compare with: its --out.")],
    candidate: Annotated[Path, typer.Argument(help="Folder of the audit of what is new.")],
    tolerance: Annotated[ToleranceType | None, TOLERANCE] = None,
    out: Annotated[
        Folder | None, Option("Folder for comparison.json, changes.parquet, page", OUTPUT)
    ] = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    format_: FormatOption = "text",
    verbose: VerboseOption = False,
    quiet: QuietOption = False,
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
    from fairrec.comparison.words import build_comparison_view, comparison_markdown

    view = build_comparison_view(found.summary, found.changes)
    print_as(
        format_,
        verbose=verbose,
        page=page_path(out, no_report=no_report),
        json=found.to_json,
        markdown=lambda: comparison_markdown(view),
        answer=lambda: view.answer,
    )
    say_written(out, "comparison.json, changes.parquet", no_report=no_report, quiet=quiet)
