"""The page of a result among its files: made before anything old goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import polars as pl

from fairrec.core.errors import OutputError
from fairrec.core.folders import whole_folder
from fairrec.core.options import spelled
from fairrec.result.counterfactual_schema import CounterfactualSummary
from fairrec.result.mitigation_schema import MitigationSummary
from fairrec.result.run_file import AuditRun
from fairrec.result.schema import AuditSummary


class PageMaker(Protocol):
    """Draws a result as one HTML file."""

    def __call__(
        self,
        summary: AuditSummary,
        groups: pl.DataFrame,
        group_file: str = "groups.parquet",
        mitigation: MitigationSummary | None = None,
        run: AuditRun | None = None,
        counterfactual: CounterfactualSummary | None = None,
    ) -> str:
        """The page, with links to the table of groups; none where `group_file` is empty."""


PAGE = "report.html"
CardMaker = Callable[[AuditSummary], str]
"""Draws what a notebook shows of a result: a part of a page."""


def write_with_page(
    folder: Path,
    owned: Sequence[str],
    write: Callable[[Path], None],
    make_page: Callable[[], str] | None,
) -> None:
    """Write the files of a result and its page, all of them or none.

    A result may have taken hours: where only its page fails, the result is written without it, and
    the error says so.

    Parameters
    ----------
    owned : as of `whole_folder`
    write : writes all but the page into a folder
    make_page : None for no page
    """
    failed = None
    with whole_folder(folder, owned) as part:
        write(part)
        try:
            page = make_page() if make_page else None
        except Exception as error:
            failed = error
        else:
            if page is not None:
                (part / PAGE).write_text(page, encoding="utf-8", newline="\n")
    if failed is not None:
        raise OutputError(
            f"{folder}: the result is written, but its page could not be made "
            f"({type(failed).__name__}: {failed}). Leave it out with {spelled('report', False)}."
        ) from failed
