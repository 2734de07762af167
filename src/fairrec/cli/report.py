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
    folder: Annotated[Path, typer.Argument(help="Folder of an audit, mitigation or comparison.")],
    out: Annotated[
        Path | None, Option(FILE, "The file to write", default="report.html in the folder")
    ] = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Write the page of a saved audit, mitigation or comparison anew."""
    from fairrec.core.files import write_text
    from fairrec.mitigation.mitigation_result import load_mitigation
    from fairrec.report.comparison.page import comparison_page
    from fairrec.report.page.html import write_page
    from fairrec.result.comparison import load_comparison
    from fairrec.result.run_file import load_audit_run
    from fairrec.result.saved import load_groups, load_summary

    file = out or folder / "report.html"
    comparison = load_comparison(folder)
    if comparison is not None:
        write_text(file, comparison_page(*comparison))
        if not quiet:
            say(f"Written: {file}")
        return
    summary, groups = load_summary(folder), load_groups(folder)
    mitigation, run = load_mitigation(folder), load_audit_run(folder)
    link = os.path.relpath(folder / "groups.parquet", file.parent)
    write_page(file, summary, groups, Path(link).as_posix(), mitigation, run)
    if not quiet:
        say(f"Written: {file}")
