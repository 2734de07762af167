"""The groups of a result on the page: their rows, labels and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from fairrec.core.errors import InputError
from fairrec.inputs.users import Value
from fairrec.report.audit_answer import by_importance
from fairrec.report.findings import found_groups
from fairrec.report.group_rows import GroupNumbers, read_groups
from fairrec.result.schema import AuditSummary
from fairrec.result.tables import ADJUSTED, BOUNDED, FACTS, NUMBERS, OF_ITEMS

MOST_METRICS = 12
"""Metrics with charts; the tables have the others."""

Key = tuple[str | None, ...]
"""One text for each attribute; None where any value counts."""
Pair = tuple[str, str]
"""The names of two attributes."""


class PageGroups:
    """The groups of a result, with a number for each that is the same in every metric.

    Columns are named by position, as an attribute may have any name.
    """

    def __init__(self, groups: pl.DataFrame, summary: AuditSummary) -> None:
        self.summary, self.table = summary, groups
        self.found = found_groups(summary)
        self.names = [*summary.attributes]
        n = len(self.names) + 1
        first, after = groups.columns[:n], groups.columns[n:]
        optional = {*ADJUSTED, *OF_ITEMS, *BOUNDED}
        if first != ["metric", *self.names] or {*after} - optional != {*FACTS, *NUMBERS}:
            raise InputError(
                "groups.parquet does not belong to this result. Audit again, or put back the "
                "file that was written beside result.json."
            )
        self.axes = [f"a{at}" for at in range(len(self.names))]
        renamed = groups.clone()
        renamed.columns = ["metric", *self.axes, *after]
        self.of_metric = {
            name: renamed.filter(pl.col("metric") == name) for name in summary.metrics
        }
        ranked = [name for name in by_importance(summary) if self.of_metric[name].height]
        ranked.sort(key=lambda name: not summary.metrics[name].findings)
        self.drawn = [name for name in summary.metrics if name in ranked[:MOST_METRICS]]
        self._numbers: dict[Key, int] = {}

    def key(self, group: Mapping[str, Value]) -> Key:
        """The key of a group."""
        return tuple(str(group[name]) if name in group else None for name in self.names)

    def number(self, group: Mapping[str, Value]) -> int:
        """The number of a group on the page."""
        return self._numbers.setdefault(self.key(group), len(self._numbers))

    def finding_keys(self, metric: str) -> set[Key]:
        """The groups that are findings in a metric."""
        return {self.key(finding.group) for finding in self.summary.metrics[metric].findings}

    def rows(self, frame: pl.DataFrame) -> list[GroupNumbers]:
        """The rows of a part of the table."""
        return read_groups(frame, self.summary)

    def select(self, metric: str, keys: Iterable[Key]) -> pl.DataFrame:
        """The rows of some groups in a metric."""
        chosen = pl.DataFrame(
            [*keys], schema=dict.fromkeys(self.axes, pl.String), orient="row"
        ).unique()
        return self.of_metric[metric].join(
            chosen, on=self.axes, how="semi", nulls_equal=True, maintain_order="left"
        )

    def sample(self, metric: str, most: int) -> pl.DataFrame:
        """At most this many rows of a metric, in their order.

        Findings and the lowest p-values are kept; the other rows are sampled evenly.
        """
        frame = self.of_metric[metric]
        if frame.height <= most:
            return frame
        n_lowest = most // 2
        others = frame.slice(n_lowest)
        every = -(-others.height // (most - n_lowest))
        findings = self.select(metric, self.finding_keys(metric))
        kept = pl.concat([findings, frame.head(n_lowest), others.gather_every(every)])
        kept = kept.unique(self.axes, maintain_order=True).head(most)
        return frame.join(
            kept.select(self.axes),
            on=self.axes,
            how="semi",
            nulls_equal=True,
            maintain_order="left",
        )

    def pairs(self, metric: str) -> dict[Pair, list[GroupNumbers]]:
        """The groups of two attributes, by the names of the two."""
        found: dict[Pair, list[GroupNumbers]] = {}
        for row in self.rows(self.of_metric[metric].filter(pl.col("depth") == 2)):
            first, second = row.group
            found.setdefault((first, second), []).append(row)
        return found
