"""The comparison of two audits: frozen, and all that anything printed or drawn of it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.atomic_io import put_table
from fairrec.core.errors import plain, unknown_name
from fairrec.core.json_file import load_json
from fairrec.result.comparison_schema import ComparisonSummary, MetricComparison
from fairrec.result.finding_table import as_pandas
from fairrec.result.folder import COMPARISON, names_to_replace, write_with_page
from fairrec.result.parts import ID, result_id
from fairrec.result.saved import load_table
from fairrec.result.show import show_page

NAME = COMPARISON.known_by
ComparisonPage = Callable[[ComparisonSummary, pl.DataFrame], str]
ComparisonCard = Callable[[ComparisonSummary], str]


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
        many = summary.unit.many
        how = f"the same {many}" if summary.pairing.is_paired else f"other {many}"
        lines = [f"comparison of two audits by {how}, {summary.outcome}"]
        for name, found in summary.metrics.items():
            counts = (
                f"lost: {found.n_lost:,}, behind the others: {found.n_behind:,}, "
                f"gained: {found.n_gained:,}"
            )
            if found.higher_is_better is None:
                counts = f"changed: {found.n_lost:,}, otherwise than the others: {found.n_behind:,}"
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
        """One row per group; those that lost by more than matters first.

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

    def save(self, folder: str | Path, report: bool = True, force: bool = False) -> Path:
        """Write `comparison.json`, `changes.parquet` and the page, `report.html`, into a folder.

        They appear under their names only when all are written. A comparison there is replaced as a
        whole, and other files stay. Results of another kind and files of these names that are of
        no comparison are not overwritten.

        Parameters
        ----------
        report : whether to write the page
        force : replace them all the same
        """
        folder = Path(folder)
        names = names_to_replace(COMPARISON, folder, force)
        make_page = partial(self.page, self.summary, self.changes)
        id = result_id(self.summary, self.changes)
        write_with_page(
            folder, names, id, partial(self._write_files, id=id), make_page if report else None
        )
        return folder

    def show(self) -> Path | None:
        """Show the page below a cell of a notebook; elsewhere write a file and give its path."""
        return show_page(self.page(self.summary, self.changes))

    def to_json(self) -> str:
        """The content of `comparison.json`."""
        return self.summary.model_dump_json(indent=2)

    def _write_files(self, part: Path, id: str) -> None:
        put_table(self.changes, part / "changes.parquet", compression_level=1, metadata={ID: id})
        text = self.summary.model_copy(update={"id": id}).model_dump_json(indent=2)
        (part / NAME).write_text(text + "\n", encoding="utf-8")


def load_comparison(folder: Path) -> tuple[ComparisonSummary, pl.DataFrame]:
    """The comparison saved in a folder."""
    summary = load_json(folder / NAME, ComparisonSummary, "comparison")
    changes = load_table(folder / "changes.parquet", summary.id)
    return summary.model_copy(update={"id": ""}), changes
