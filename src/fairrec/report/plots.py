"""Charts of a result for a notebook: those of the page, as charts of Altair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairrec.core.errors import InputError, unknown_name

if TYPE_CHECKING:
    from fairrec.report.audit_result import AuditResult


@dataclass(frozen=True, slots=True)
class Plots:
    """The charts of a result; each is a chart of Altair, to show, change or save.

    `metric` is the one of the headline where none is named.
    """

    result: AuditResult

    def groups(self, metric: str | None = None) -> Any:
        """Value against size of every group, beside what chance explains."""
        from fairrec.report.page.figures import group_chart
        from fairrec.report.page.group_charts import group_charts
        from fairrec.report.page.view import PageLimits

        name = self._name(metric)
        at = [*self.result.metrics].index(name)
        return group_chart(group_charts(self._page_groups(), PageLimits())[at]).chart()

    def ruled_out(self, metric: str | None = None) -> Any:
        """The largest harm that is not ruled out, by size of group."""
        from fairrec.report.page.build import certificates
        from fairrec.report.page.figures import certificate_curve
        from fairrec.report.page.view import PageLimits

        name = self._name(metric)
        for part in certificates(self._page_groups(), PageLimits()):
            if part.metric == name and part.steps:
                return certificate_curve(part).chart()
        raise InputError(f"{name}: nothing was tested, so nothing is ruled out.")

    def intersections(self, first: str, second: str, metric: str | None = None) -> Any:
        """The groups of two attributes as a map, by their differences from all others."""
        from fairrec.report.page.attributes import pair_map
        from fairrec.report.page.figures import pair_heat_map

        names = [*self.result.summary.attributes]
        for name in (first, second):
            if name not in names:
                raise unknown_name("attribute of this audit", name, names)
        pair = (min(map(names.index, (first, second))), max(map(names.index, (first, second))))
        drawn = pair_map(self._page_groups(), self._name(metric), pair)
        if drawn is None:
            raise InputError(f"No group of {first} and {second} has enough users to be drawn.")
        return pair_heat_map(drawn).chart()

    def _name(self, metric: str | None) -> str:
        from fairrec.report.audit_answer import headline_metric
        from fairrec.report.findings import found_groups

        summary = self.result.summary
        if metric is None:
            return headline_metric(summary, found_groups(summary))
        return self.result.find_metric(metric)

    def _page_groups(self) -> Any:
        from fairrec.report.page.groups import PageGroups

        return PageGroups(self.result.group_table, self.result.summary)
