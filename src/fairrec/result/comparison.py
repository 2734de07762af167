"""The comparison of two audits: frozen, and all that anything printed or drawn of it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.errors import InputError, OutputError, plain, unknown_name
from fairrec.core.files import check_writable, put_table
from fairrec.core.folders import settle
from fairrec.result.comparison_schema import ComparisonSummary, MetricComparison
from fairrec.result.finding_table import as_pandas
from fairrec.result.own_folder import COMPARISON
from fairrec.result.page import write_with_page
from fairrec.result.saved import load_table
from fairrec.result.show import show_page

NAME = COMPARISON.known_by
ComparisonPage = Callable[[ComparisonSummary, pl.DataFrame], str]
ComparisonCard = Callable[[ComparisonSummary], str]
_OTHERS = {"result.json": "an audit", "mitigation.json": "a mitigation"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of the groups of one audit in another.

    Parameters
    ----------
    summary : the content of `comparison.json`
    changes : one row for each metric and group in both audits
    page, card : draw it, and what a notebook shows of it; whoever makes it hands them in
    is_pandas : whether `groups` gives a frame of pandas, as the audits do
    """

    summary: ComparisonSummary
    changes: pl.DataFrame = field(repr=False)
    page: ComparisonPage = field(repr=False, compare=False)
    card: ComparisonCard = field(repr=False, compare=False)
    is_pandas: bool = False

    def __repr__(self) -> str:
        """What was compared, and a line for each metric."""
        summary = self.summary
        how = "the same users" if summary.pairing.is_paired else "other users"
        lines = [f"comparison of two audits by {how}, {summary.outcome}"]
        for name, found in summary.metrics.items():
            n_worse = found.n_worse_by_more + found.n_worse
            counts = f"worse: {n_worse:,}, improved: {found.n_improved:,}"
            if found.higher_is_better is None:
                counts = f"changed: {n_worse:,}"
            lines.append(f"  {plain(name)}: {counts} of {found.n_groups:,} groups")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.card(self.summary)

    @property
    def metrics(self) -> dict[str, MetricComparison]:
        """Comparisons by metric."""
        return self.summary.metrics

    @property
    def attributes(self) -> tuple[str, ...]:
        """Those that both audits have: the columns of `changes` after the metric."""
        return self.summary.attributes

    def groups(self, metric: str | None = None) -> Any:
        """One row a group; those that became worse by more than matters first.

        Parameters
        ----------
        metric : None for all, with a column `metric`
        """
        table = self.changes
        if metric is not None:
            if metric not in self.metrics:
                raise unknown_name("metric in this comparison", metric, self.metrics)
            table = table.filter(pl.col("metric") == metric).drop("metric")
        return as_pandas(table) if self.is_pandas else table

    def save(self, folder: str | Path, report: bool = True) -> Path:
        """Write `comparison.json`, `changes.parquet` and the page, `report.html`, into a folder.

        They appear under their names only when all are written. Other files there stay. A folder
        with an audit or a mitigation is refused.
        """
        folder = Path(folder)
        check_comparison_folder(folder)
        make_page = partial(self.page, self.summary, self.changes)
        write_with_page(folder, COMPARISON.files, self._write_files, make_page if report else None)
        return folder

    def show(self) -> Path | None:
        """Show the page below a cell of a notebook; elsewhere write a file and give its path."""
        return show_page(self.page(self.summary, self.changes))

    def to_json(self) -> str:
        """The content of `comparison.json`."""
        return self.summary.model_dump_json(indent=2)

    def _write_files(self, part: Path) -> None:
        put_table(self.changes, part / "changes.parquet", compression_level=1)
        (part / NAME).write_text(self.to_json() + "\n", encoding="utf-8")


def check_comparison_folder(folder: Path) -> None:
    """Refuse a folder that a comparison cannot be written into, before any work is done."""
    check_writable(folder)
    for name, what in _OTHERS.items():
        if (folder / name).exists():
            raise OutputError(
                f"{plain(folder, 300)}: holds {what}, whose files do not go with a comparison. "
                "Choose another folder."
            )


def load_comparison(folder: Path) -> tuple[ComparisonSummary, pl.DataFrame] | None:
    """The comparison saved in a folder; None where there is none."""
    settle(folder)
    path = folder / NAME
    if not path.exists():
        return None
    try:
        summary = ComparisonSummary.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{plain(path, 300)}: cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise InputError(
            f"{plain(path, 300)}: is no comparison by this version of FairRec ({error})."
        ) from error
    changes = load_table(folder / "changes.parquet")
    found = {*changes["metric"].unique()} if "metric" in changes.columns else set()
    if not found <= {*summary.metrics}:
        raise InputError(
            f"{plain(folder, 300)}: changes.parquet does not belong to this comparison. Compare "
            "again."
        )
    return summary, changes
