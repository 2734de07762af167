"""`fairrec demo`: an audit of synthetic data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fairrec.cli.parameters import typer_command
from fairrec.cli.shared import (
    FormatOption,
    NoReportOption,
    QuietOption,
    VerboseOption,
    print_result,
    shown_progress,
)
from fairrec.core.audit_options import Seed
from fairrec.core.option_types import Folder
from fairrec.core.options import Option


@typer_command
def demo_command(
    out: Annotated[Folder, Option("Folder for the tables and the audit")] = Path("fairrec-demo"),
    seed: Annotated[Seed, Option("Same seed, same numbers")] = 0,
    no_report: NoReportOption = False,
    format_: FormatOption = "text",
    verbose: VerboseOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make synthetic data with one badly served group, train a recommender, audit it."""
    with shown_progress(quiet) as progress:
        from fairrec.demo.demo import PLANTED, run_demo

        result = run_demo(out, seed, progress, report=not no_report)
    planted = ", ".join(f"{name}={value}" for name, value in PLANTED.items())
    print_result(
        result,
        format_,
        out / "audit",
        verbose=verbose,
        has_page=not no_report,
        about=f"Synthetic data with a planted harm in {planted}",
    )
