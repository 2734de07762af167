"""`fairrec report`: the page of a saved audit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from fairrec.cli.parameters import takes_options
from fairrec.cli.shared import DebugOption, QuietOption, say
from fairrec.core.kinds import FILE
from fairrec.core.options import Option


@takes_options
def report_command(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder of an audit or mitigation: their --out.")],
    out: Annotated[
        Path | None, Option(FILE, "The file to write", default="report.html in the folder")
    ] = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Write the page of a saved audit or mitigation anew."""
    from fairrec.mitigation.mitigation_result import load_mitigation
    from fairrec.report.page.html import write_page
    from fairrec.result.run_file import load_audit_run
    from fairrec.result.saved import load_groups, load_summary

    summary, groups = load_summary(folder), load_groups(folder)
    mitigation, run = load_mitigation(folder), load_audit_run(folder)
    file = out or folder / "report.html"
    link = os.path.relpath(folder / "groups.parquet", file.parent)
    write_page(file, summary, groups, Path(link).as_posix(), mitigation, run)
    if not quiet:
        say(f"Written: {file}")
