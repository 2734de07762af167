"""`fairrec report`: the page of a saved result."""

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
    folder: Annotated[
        Path, typer.Argument(help="Folder of an audit, mitigation, comparison or trend.")
    ],
    out: Annotated[
        Path | None, Option(FILE, "The file to write", default="report.html in the folder")
    ] = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Write the page of a saved audit, mitigation, comparison or trend anew."""
    from fairrec.core.atomic_io import write_text
    from fairrec.mitigation.mitigation_result import load_mitigation
    from fairrec.report.comparison.page import comparison_page
    from fairrec.report.page.html import page_html
    from fairrec.report.page.trend import trend_page
    from fairrec.result.comparison import load_comparison
    from fairrec.result.counterfactual import load_counterfactual
    from fairrec.result.folder import COMPARISON, TREND, kind_in
    from fairrec.result.parts import result_id, with_id
    from fairrec.result.saved import load_audit_run, load_groups, load_saved
    from fairrec.result.trend import load_trend

    file = out or folder / "report.html"
    kind = kind_in(folder)
    if kind is COMPARISON:
        comparison = load_comparison(folder)
        page, id = comparison_page(*comparison), result_id(*comparison)
    elif kind is TREND:
        trend = load_trend(folder)
        page, id = trend_page(trend), result_id(trend)
    else:
        summary, id = load_saved(folder)
        link = os.path.relpath(folder / "groups.parquet", file.parent)
        page = page_html(
            summary,
            load_groups(folder, id),
            Path(link).as_posix(),
            load_mitigation(folder, id),
            load_audit_run(folder, id),
            load_counterfactual(folder, id),
        )
    write_text(file, with_id(page, id))
    if not quiet:
        say(f"Written: {file}")
