"""A result without its small groups, to be passed on.

Nothing is computed anew: verdicts, numbers of groups and what holds for all of them are those of
the whole audit. Every group, value and part of a group with fewer users than asked for goes, and
so do the numbers from which such a count follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeVar

import polars as pl
from pydantic import BaseModel

from fairrec.core.audited_entity import Unit
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import (
    AdjustedCovariate,
    Adjustment,
    AttributeSummary,
    AuditSummary,
    Coverage,
    Hidden,
)
from fairrec.result.tables import BOUNDED
from fairrec.statistics.inequality import ItemsShown
from fairrec.statistics.missing import MissingUsers
from fairrec.statistics.ratios import CategoryRatios

P = TypeVar("P", bound=BaseModel)

_ROUNDING = 1e-6
"""A share of users times their number may be a hair below what was counted."""
_NUMBERS: dict[type[BaseModel], tuple[str, ...]] = {
    AttributeSummary: ("n_missing",),
    AdjustedCovariate: ("n_missing",),
    Adjustment: ("n_users_alone",),
    Coverage: ("n_users_below",),
    CategoryRatios: ("n_unknown",),
}
"""Numbers of users that are null where they are small."""
_NOTE = "are hidden in this result"


def without_small(
    summary: AuditSummary, groups: pl.DataFrame, min_shown: int
) -> tuple[AuditSummary, pl.DataFrame]:
    """The result and its table of groups without those of fewer users, with a note about them."""
    before = summary.hidden
    if before is not None and before.min_shown >= min_shown:
        return summary, groups
    is_shown = _rows_shown(groups, min_shown)
    attributes = [*summary.attributes]
    hidden = groups.filter(~is_shown).select("metric", *attributes)
    rule = _Rule(min_shown, set(hidden.rows()), attributes)
    changed = rule.hide(summary)
    metrics = {
        name: rule.without_hidden_causes(name, result) for name, result in changed.metrics.items()
    }
    n_groups = hidden.select(attributes).n_unique() + (before.n_groups if before else 0)
    search = {
        # the last step of the history is the gap
        name: _with(one, history=()) if metrics[name].gap is None else one
        for name, one in changed.search.metrics.items()
    }
    notes = [rule.redact(note, summary.unit) for note in summary.warnings if _NOTE not in note]
    changed = _with(
        changed,
        metrics=metrics,
        search=_with(changed.search, metrics=search),
        confounders=tuple(
            one for one in changed.confounders if not rule.is_hidden(one.metric, one.group)
        ),
        warnings=(
            *notes,
            f"{n_groups:,} groups of fewer than {min_shown:,} {summary.unit.many} {_NOTE}; "
            "verdicts and numbers of groups are those of the whole audit",
        ),
        hidden=Hidden(min_shown=min_shown, n_groups=n_groups),
    )
    return changed, _without_few_unknown(groups.filter(is_shown), min_shown)


def _with(part: P, **changed: object) -> P:
    """The same part of a result with some fields changed."""
    return part.model_copy(update=changed)


def _rows_shown(groups: pl.DataFrame, min_shown: int) -> pl.Series:
    """Rows that rest on enough users."""
    is_shown = groups["support"] >= min_shown
    if "kept_share" in groups.columns:
        kept = (groups["kept_share"] * groups["support"]).fill_null(0)
        is_shown &= (kept == 0) | (kept >= min_shown - _ROUNDING)
    return is_shown


def _without_few_unknown(groups: pl.DataFrame, min_shown: int) -> pl.DataFrame:
    """The same without bounds that few users of unknown attributes make."""
    if BOUNDED[2] not in groups.columns:
        return groups
    is_shown = ~pl.col(BOUNDED[2]).is_between(1, min_shown - 1)
    return groups.with_columns(pl.when(is_shown).then(name) for name in BOUNDED)


@dataclass(frozen=True, slots=True)
class _Rule:
    """What may be shown.

    Parameters
    ----------
    hidden : rows of the table of groups that are hidden: metric and value of each attribute
    """

    min_shown: int
    hidden: set[tuple[Any, ...]]
    attributes: list[str]

    def is_few(self, n: float | None) -> bool:
        """Whether users are counted, and fewer than may be shown."""
        return n is not None and 0 < n < self.min_shown - _ROUNDING

    def is_hidden(self, metric: str, group: dict[str, Any]) -> bool:
        """Whether a group of a metric is hidden."""
        values = (str(group[name]) if name in group else None for name in self.attributes)
        return (metric, *values) in self.hidden

    def hide(self, value: Any) -> Any:
        """The same without parts that count few users; None for such a part itself."""
        if isinstance(value, tuple):
            return tuple(self.hide(one) for one in value if not self.counts_few(one))
        if isinstance(value, dict):
            return {key: self.hide(one) for key, one in value.items() if not self.counts_few(one)}
        if not isinstance(value, BaseModel):
            return value
        if self.counts_few(value):
            return None
        changed = {name: self.hide(one) for name, one in value}
        for name in _NUMBERS.get(type(value), ()):
            changed[name] = None if self.is_few(changed[name]) else changed[name]
        if isinstance(value, AttributeSummary):
            for name in ("values", "small_values"):
                changed[name] = {one: n for one, n in changed[name].items() if not self.is_few(n)}
        elif isinstance(value, MetricResult):
            changed |= self.change_metric(value, changed)
        elif isinstance(value, MissingUsers):
            changed |= self.change_missing(changed)
        elif isinstance(value, CategoryRatios):
            changed["groups"] = self.change_ratios(value, changed["groups"])
        return _with(value, **changed)

    def counts_few(self, part: Any) -> bool:
        """Whether a part is about few users, or a part of few of its users."""
        counts: list[float | None]
        if isinstance(part, ItemsShown):
            counts = [part.n_items, part.n_shown, part.n_items - part.n_shown]
        elif hasattr(part, "n_known"):
            counts = [part.n_known, part.n_unknown]
        elif hasattr(part, "kept_share"):
            n = getattr(part, "support", None) or part.n_users
            counts = [n, n * (part.kept_share or 0)]
        else:
            counts = [getattr(part, "support", None)]
        return any(map(self.is_few, counts))

    def without_hidden_causes(self, metric: str, result: MetricResult) -> MetricResult:
        """The same without names of hidden groups beside its findings."""
        findings = tuple(
            _with(one, because_of=None)
            if one.because_of is not None and self.is_hidden(metric, one.because_of)
            else one
            for one in result.findings
        )
        return _with(result, findings=findings)

    def change_metric(self, result: MetricResult, shown: dict[str, Any]) -> dict[str, Any]:
        """Of a metric: one end and the gap would reveal the other end."""
        changed: dict[str, Any] = {}
        ends = ("advantaged", "disadvantaged")
        if any(getattr(result, end) is not None and shown[end] is None for end in ends):
            changed |= dict.fromkeys(("gap", "chance", *ends))
        if (verdict := shown["verdict"]) is not None:
            ruled_out = verdict.ruled_out_from
            # what holds from some size on holds from a larger one on
            least = None if ruled_out is None else max(ruled_out, self.min_shown)
            changed["verdict"] = _with(verdict, ruled_out_from=least)
        return changed

    def change_missing(self, shown: dict[str, Any]) -> dict[str, Any]:
        """Of missing users: their number follows from a share, as does that of all others."""

        def is_shown(group: Any) -> bool:
            n_missing = group.value * group.support
            return not (self.is_few(n_missing) or self.is_few(group.support - n_missing))

        findings = (_with(one, because_of=None) for one in shown["findings"] if is_shown(one))
        return {"findings": tuple(findings), "shares": tuple(filter(is_shown, shown["shares"]))}

    def change_ratios(self, one: CategoryRatios, shown: tuple[Any, ...]) -> tuple[Any, ...]:
        """A ratio and the value below it would reveal the value of a hidden best group."""
        hidden = [group for group in one.groups if self.counts_few(group)]
        unknown: dict[str, None] = {}
        if any(group.to_best == 1 for group in hidden):
            unknown |= dict.fromkeys(("to_best", "to_best_interval", "four_fifths"))
        if any(group.impact_ratio == 1 for group in hidden):
            unknown["impact_ratio"] = None
        return tuple(_with(group, **unknown) for group in shown)

    def redact(self, note: str, unit: Unit) -> str:
        """A note without small numbers of users and without values, which may be of few users."""
        one, many = re.escape(unit.one), re.escape(unit.many)
        # numbers of users, rows and values; not of users that a group must have
        counted = (
            r"(?<!at least )(?<!has )(?<![\w.,@:])(\d{1,3}(?:,\d{3})*|\d+)"
            rf"(?= of [\d,]+ {many}| (?:{one}|{many})\b| rows?\b| values? (?:is|are) ')"
        )

        def replace(found: re.Match[str]) -> str:
            is_few = self.is_few(int(found[0].replace(",", "")))
            return f"fewer than {self.min_shown:,}" if is_few else found[0]

        return re.sub(counted, replace, note)
