"""`fairrec demo`: an audit of synthetic data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from fairrec.cli.parameters import Here, takes_options
from fairrec.cli.shared import (
    DebugOption,
    Format,
    FormatOption,
    LogOption,
    NoReportOption,
    QuietOption,
    print_result,
    shown_progress,
    stdout,
)
from fairrec.core.audit_options import Seed
from fairrec.core.kinds import FOLDER
from fairrec.core.options import Option

if TYPE_CHECKING:
    pass


@takes_options
def demo_command(
    out: Annotated[Path, Option(FOLDER, "Folder for the tables and the audit")] = Path(
        "fairrec-demo"
    ),
    seed: Annotated[Seed, Here(panel="")] = 0,
    no_report: NoReportOption = False,
    format_: FormatOption = Format.text,
    quiet: QuietOption = False,
    log: LogOption = None,
    debug: DebugOption = False,
) -> None:
    """Make synthetic data with one badly served group, train a recommender, audit it."""
    with shown_progress(quiet, log) as progress:
        from fairrec.demo.demo import PLANTED, demo_audit_command, run_demo

        result = run_demo(out, seed, progress, report=not no_report)
    print_result(result, format_, out / "audit")
    if format_ is Format.text:
        planted = ", ".join(f"{name}={value}" for name, value in PLANTED.items())
        console = stdout()
        console.print(Text(f"\nThe group made hard to serve in this data: {planted}."))
        console.print(
            Text(
                f"Open {out}/audit/{'result.json' if no_report else 'report.html'} or read "
                f"{out}/audit/groups.parquet. "
                "Next, change something and audit again:"
            )
        )
        console.print(Text(f"  {demo_audit_command(out, seed)}"), soft_wrap=True)
