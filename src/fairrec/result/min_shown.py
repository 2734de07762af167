"""A result without its small groups, to be passed on.

Nothing is worked out anew: verdicts, numbers of groups and what holds for all of them are those of
the whole audit. What goes is every group, value and part of a group with fewer users than asked
for, and what is no more than another way to write down such a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import polars as pl
from pydantic import BaseModel

from fairrec.core.audited_entity import Unit
from fairrec.groups.group import GroupValue
from fairrec.inputs.users import Value
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import Adjustment, AttributeSummary, AuditSummary, Hidden
from fairrec.result.tables import BOUNDED
from fairrec.statistics.findings import Finding
from fairrec.statistics.inequality import CatalogueExposure, ItemsShown
from fairrec.statistics.missing import MissingUsers
from fairrec.statistics.ratios import CategoryRatios, GroupRatios, MetricRatios
from fairrec.statistics.unknown import Unknown
from fairrec.statistics.verdict import MetricVerdict

T = TypeVar("T", GroupValue, GroupRatios)
P = TypeVar("P", bound=BaseModel)

_ROUNDING = 1e-6
"""A share of users times their number may be a hair below what was counted."""


def without_small(
    summary: AuditSummary, groups: pl.DataFrame, min_shown: int
) -> tuple[AuditSummary, pl.DataFrame]:
    """The result and its table of groups without those of fewer users, and what is said of it.

    Of a result with less to show already nothing comes back.
    """
    before = summary.hidden
    if before is not None and before.min_shown >= min_shown:
        return summary, groups
    is_shown = _rows_shown(groups, min_shown)
    hidden, shown = groups.filter(~is_shown), groups.filter(is_shown)
    rule = _Rule(min_shown, shown, tuple(summary.attributes), summary.unit)
    metrics = {name: rule.metric(name, result) for name, result in summary.metrics.items()}
    n_findings = sum(
        len(result.findings) - len(metrics[name].findings)
        for name, result in summary.metrics.items()
    )
    about = Hidden(
        min_shown=min_shown,
        n_groups=hidden.select(*summary.attributes).n_unique() if hidden.height else 0,
        n_findings=n_findings,
        n_values=sum(
            sum(rule.is_few(n) for n in {**one.values, **one.small_values}.values())
            for one in summary.attributes.values()
        ),
    )
    notes = summary.warnings
    if before is not None:
        notes = tuple(note for note in notes if note != _said(before, summary.unit))
        about = _with(
            about,
            n_groups=about.n_groups + before.n_groups,
            n_findings=about.n_findings + before.n_findings,
            n_values=about.n_values + before.n_values,
        )
    n_below = rule.number(summary.coverage.n_users_below)
    catalogue, search, ratios = summary.catalogue, summary.search, summary.ratios
    changed = _with(
        summary,
        attributes={name: rule.attribute(one) for name, one in summary.attributes.items()},
        coverage=_with(summary.coverage, n_users_below=n_below),
        adjustment=None if summary.adjustment is None else rule.adjustment(summary.adjustment),
        confounders=tuple(one for one in summary.confounders if rule.names(one.metric, one.group)),
        missing=tuple(map(rule.missing, summary.missing)),
        metrics=metrics,
        # the last step of the history is the gap
        search=_with(
            search,
            metrics={
                name: _with(one, history=()) if metrics[name].is_gap_hidden else one
                for name, one in search.metrics.items()
            },
        ),
        ratios=_with(
            ratios, metrics={name: rule.ratios(one) for name, one in ratios.metrics.items()}
        ),
        catalogue=None if catalogue is None else rule.catalogue(catalogue),
        warnings=(*map(rule.note, notes), _said(about, summary.unit)),
        hidden=about,
    )
    return changed, _without_few_unknown(shown, min_shown)


def _with(part: P, **changed: object) -> P:
    """The same part of a result with some fields changed."""
    return part.model_copy(update=changed)


def _without_few_unknown(groups: pl.DataFrame, min_shown: int) -> pl.DataFrame:
    """The same without bounds that few users of unknown attributes make."""
    if BOUNDED[2] not in groups.columns:
        return groups
    is_shown = ~pl.col(BOUNDED[2]).is_between(1, min_shown - 1)
    return groups.with_columns(pl.when(is_shown).then(name) for name in BOUNDED)


def _rows_shown(groups: pl.DataFrame, min_shown: int) -> pl.Series:
    """Rows that rest on enough users."""
    is_shown = groups["support"] >= min_shown
    if "kept_share" in groups.columns:
        kept = (groups["kept_share"] * groups["support"]).fill_null(0)
        is_shown &= (kept == 0) | (kept >= min_shown - _ROUNDING)
    return is_shown


def _counted(unit: Unit) -> re.Pattern[str]:
    """Finds numbers of users, rows and values of theirs in a note; none that a group must have."""
    one, many = re.escape(unit.one), re.escape(unit.many)
    return re.compile(
        r"(?<!at least )(?<!has )(?<![\w.,@:])(\d{1,3}(?:,\d{3})*|\d+)"
        rf"(?= of [\d,]+ {many}| (?:{one}|{many})\b| rows?\b| values? (?:is|are) ')"
    )


def _said(about: Hidden, unit: Unit) -> str:
    groups = f"{about.n_groups:,} group{'s' if about.n_groups != 1 else ''}"
    findings = f"{about.n_findings:,} finding{'s' if about.n_findings != 1 else ''}"
    return (
        f"groups of fewer than {about.min_shown:,} {unit.many} are hidden in this result: "
        f"{groups}, {findings} among them; verdicts and numbers of groups are those of the whole "
        "audit"
    )


@dataclass(frozen=True, slots=True)
class _Rule:
    """What may be shown.

    Parameters
    ----------
    table : the rows of groups that are shown
    """

    min_shown: int
    table: pl.DataFrame
    attributes: tuple[str, ...]
    unit: Unit

    def is_few(self, n: float | None) -> bool:
        """Whether somebody is counted, and fewer than may be shown."""
        return n is not None and 0 < n < self.min_shown - _ROUNDING

    def number(self, n: int | None) -> int | None:
        return None if self.is_few(n) else n

    def names(self, metric: str, group: Mapping[str, Value]) -> bool:
        """Whether a group of a metric is shown."""
        is_it = pl.col("metric") == metric
        for name in self.attributes:
            column = pl.col(name)
            is_it &= column == str(group[name]) if name in group else column.is_null()
        return self.table.filter(is_it).height > 0

    def large(self, groups: Iterable[T]) -> tuple[T, ...]:
        return tuple(one for one in groups if one.support >= self.min_shown)

    def one(self, group: GroupValue | None) -> GroupValue | None:
        return None if group is None or group.support < self.min_shown else group

    def metric(self, name: str, result: MetricResult) -> MetricResult:
        changed: dict[str, object] = {
            "most_advantaged": self.large(result.most_advantaged),
            "most_disadvantaged": self.large(result.most_disadvantaged),
            "findings": self.findings(name, result.findings),
            "verdict": None if result.verdict is None else self.verdict(result.verdict),
            "detectable": tuple(one for one in result.detectable if one.support >= self.min_shown),
            "undecided": self.large(result.undecided),
            "unknown": tuple(one for one in result.unknown if self.is_shown_unknown(one)),
        }
        ends = (result.advantaged, result.disadvantaged)
        if any(end is not None and self.one(end) is None for end in ends):
            # one end and the gap would tell the other
            changed |= dict.fromkeys(("gap", "chance", "advantaged", "disadvantaged"))
            changed["is_gap_hidden"] = True
        return _with(result, **changed)

    def is_shown_unknown(self, one: Unknown) -> bool:
        return not (self.is_few(one.n_known) or self.is_few(one.n_unknown))

    def findings(self, name: str, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(self.finding(name, one) for one in findings if self.is_shown(one))

    def is_shown(self, finding: Finding) -> bool:
        kept = None if finding.kept_share is None else finding.kept_share * finding.support
        return finding.support >= self.min_shown and not self.is_few(kept)

    def finding(self, name: str, finding: Finding) -> Finding:
        if finding.because_of is None or self.names(name, finding.because_of):
            return finding
        return _with(finding, because_of=None)

    def verdict(self, verdict: MetricVerdict) -> MetricVerdict:
        return _with(
            verdict,  # what holds from some size on holds from a larger one on
            ruled_out_from=None
            if verdict.ruled_out_from is None
            else max(verdict.ruled_out_from, self.min_shown),
            at_worst=None
            if verdict.at_worst is None or not self.is_shown_unknown(verdict.at_worst)
            else verdict.at_worst,
            certificate=tuple(
                size for size in verdict.certificate if size.support >= self.min_shown
            ),
        )

    def attribute(self, one: AttributeSummary) -> AttributeSummary:
        return _with(
            one,
            n_missing=self.number(one.n_missing),
            small_values=self.values(one.small_values),
            values=self.values(one.values),
        )

    def values(self, values: Mapping[str, int]) -> dict[str, int]:
        return {value: n for value, n in values.items() if not self.is_few(n)}

    def missing(self, one: MissingUsers) -> MissingUsers:
        def is_told(group: GroupValue | Finding) -> bool:
            n_missing = group.value * group.support
            return not (self.is_few(n_missing) or self.is_few(group.support - n_missing))

        # of a share of missing users the number follows, which that of a metric does not tell
        return _with(
            one,
            findings=tuple(
                _with(self.finding("", found), because_of=None)
                for found in one.findings
                if self.is_shown(found) and is_told(found)
            ),
            shares=tuple(filter(is_told, self.large(one.shares))),
        )

    def adjustment(self, given: Adjustment) -> Adjustment:
        return _with(
            given,
            covariates={
                name: _with(one, n_missing=self.number(one.n_missing))
                for name, one in given.covariates.items()
            },
            n_users_alone=self.number(given.n_users_alone),
            no_longer=tuple(
                one
                for one in given.no_longer
                if one.n_users >= self.min_shown and not self.is_few(one.kept_share * one.n_users)
            ),
        )

    def ratios(self, result: MetricRatios) -> MetricRatios:
        return _with(result, by=tuple(map(self.categories, result.by)))

    def categories(self, one: CategoryRatios) -> CategoryRatios:
        shown = self.large(one.groups)
        hidden = [group for group in one.groups if group.support < self.min_shown]
        unknown: dict[str, None] = {}
        # a ratio and the value below it would tell the value above it
        if any(group.to_best == 1 for group in hidden):
            unknown |= dict.fromkeys(("to_best", "to_best_interval", "four_fifths"))
        if any(group.impact_ratio == 1 for group in hidden):
            unknown["impact_ratio"] = None
        return _with(
            one,
            n_unknown=self.number(one.n_unknown),
            n_users_too_few=self.number(one.n_users_too_few),
            groups=tuple(_with(group, **unknown) for group in shown),
        )

    def catalogue(self, found: CatalogueExposure) -> CatalogueExposure:
        def is_told(one: ItemsShown) -> bool:
            never = one.n_items - one.n_shown
            return not any(map(self.is_few, (one.n_items, one.n_shown, never)))

        return _with(
            found,
            by_value={
                name: {value: one for value, one in values.items() if is_told(one)}
                for name, values in found.by_value.items()
            },
        )

    def note(self, note: str) -> str:
        """A note without small numbers of users and without values, which may be of few users."""

        def said(found: re.Match[str]) -> str:
            n = int(found[0].replace(",", ""))
            return f"fewer than {self.min_shown:,}" if self.is_few(n) else found[0]

        return _counted(self.unit).sub(said, note)
