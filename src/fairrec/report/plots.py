"""Charts of a result for a notebook: those of the page, as charts of Altair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairrec.core.errors import InputError, unknown_name
from fairrec.report.audit_answer import headline_metric
from fairrec.report.findings import found_groups
from fairrec.report.page.figures import group_chart, pair_map, ruled_out_curve
from fairrec.report.page.groups import PageGroups

if TYPE_CHECKING:
    from fairrec.report.audit_result import AuditResult


@dataclass(frozen=True, slots=True)
class Plots:
    """The charts of a result; each is a chart of Altair, to show, change or save.

    `metric` is the one of the headline by default.
    """

    result: AuditResult

    def groups(self, metric: str | None = None) -> Any:
        """Value against size of the groups."""
        return group_chart(self._groups(), self._metric(metric)).chart()

    def ruled_out(self, metric: str | None = None) -> Any:
        """The largest harm that is not ruled out, by size of group."""
        name = self._metric(metric)
        verdict = self.result.metrics[name].verdict
        if verdict is None or not verdict.certificate:
            raise InputError(f"{name}: nothing was tested, so nothing is ruled out.")
        return ruled_out_curve(self._groups(), name, verdict.certificate).chart()

    def intersections(self, first: str, second: str, metric: str | None = None) -> Any:
        """The groups of two attributes as a map, by their differences from all others."""
        names = [*self.result.summary.attributes]
        for name in (first, second):
            if name not in names:
                raise unknown_name("attribute of this audit", name, names)
        groups, name = self._groups(), self._metric(metric)
        for pair, rows in groups.pairs(name).items():
            if {*pair} == {first, second}:
                return pair_map(groups, name, pair, rows).chart()
        raise InputError(f"No group of {first} and {second} has enough users to be drawn.")

    def _metric(self, metric: str | None) -> str:
        summary = self.result.summary
        if metric is None:
            return headline_metric(summary, found_groups(summary))
        return self.result.find_metric(metric)

    def _groups(self) -> PageGroups:
        return PageGroups(self.result.group_table, self.result.summary)
