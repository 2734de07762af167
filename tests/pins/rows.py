"""Results as flat rows under names of their own: all that a refactoring may adapt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import polars as pl

import fairrec

Figure = int | float | str | None
GROUP_FIGURES = {
    "users": "support",
    "value": "value",
    "value, low": "value_low",
    "value, high": "value_high",
    "difference": "difference",
    "difference, low": "difference_low",
    "difference, high": "difference_high",
    "difference, simultaneous low": "simultaneous_low",
    "difference, simultaneous high": "simultaneous_high",
    "difference, shrunken": "shrunken_difference",
    "difference, unadjusted": "raw_difference",
    "difference, lowest bound": "unknown_low",
    "difference, highest bound": "unknown_high",
    "covered": "kept_share",
    "detectable harm": "detectable",
    "p": "p_value",
    "p, adjusted": "p_adjusted",
    "verdict": "outcome",
}
METRIC_FIGURES: dict[str, Callable[[Any], Figure]] = {
    "mean": lambda found: found.mean,
    "standard deviation": lambda found: found.sd,
    "users with a value": lambda found: found.n_defined,
    "users without a value": lambda found: found.n_undefined,
    "groups tested": lambda found: found.n_groups,
    "groups significant": lambda found: found.n_significant,
    "gap of all attributes": lambda found: found.gap,
    "gap of all attributes, best": lambda found: found.advantaged and name(found.advantaged.group),
    "gap of all attributes, worst": lambda found: (
        found.disadvantaged and name(found.disadvantaged.group)
    ),
    "gap by chance, mean": lambda found: found.chance and found.chance.mean,
    "gap by chance, 95%": lambda found: found.chance and found.chance.q95,
    "gap, p": lambda found: found.chance and found.chance.p_value,
    "verdict": lambda found: found.verdict.outcome,
    "groups worse beyond tolerance": lambda found: found.verdict.n_worse_beyond_tolerance,
    "groups worse": lambda found: found.verdict.n_worse,
    "groups better": lambda found: found.verdict.n_better,
    "groups within tolerance": lambda found: found.verdict.n_within_tolerance,
    "groups inconclusive": lambda found: found.verdict.n_inconclusive,
    "ruled out from users": lambda found: found.verdict.ruled_out_from,
}


class PinnedRow(NamedTuple):
    """A figure of a run: of a group and metric, of a metric (no group), or of all (neither)."""

    run: str
    metric: str
    group: str
    figure: str
    number: Figure


def name(group: Any) -> str:
    """A group in words of the pins: its attributes in order of their names."""
    return " & ".join(f"{attribute}={value}" for attribute, value in sorted(dict(group).items()))


def rows_of(run: str, result: Any) -> Iterator[PinnedRow]:
    """All pinned figures of a result, whatever its kind."""
    kinds: list[tuple[type, Callable[[Any], Iterator[tuple[str, str, str, Figure]]]]] = [
        (fairrec.AuditResult, _audit),
        (fairrec.MitigationResult, _mitigation),
        (fairrec.CounterfactualResult, _counterfactual),
    ]
    (read,) = (read for kind, read in kinds if isinstance(result, kind))
    for metric, group, figure, number in read(result):
        yield PinnedRow(run, metric, group, figure, number)


def _audit(result: fairrec.AuditResult) -> Iterator[tuple[str, str, str, Figure]]:
    summary = result.summary
    yield "", "", "audited", summary.n_users
    yield "", "", "permutations drawn", summary.permutations_drawn
    yield "", "", "verdict", summary.outcome
    if (search := summary.search).n_not_fully_scored:
        yield "", "", "users scored", search.users_scored
        yield "", "", "calls", search.calls
    for missing in summary.missing:
        for share in missing.shares:
            group = name(share.group)
            yield "", group, f"missing, {missing.kind}", share.value
    for metric, found in result.metrics.items():
        for figure, read in METRIC_FIGURES.items():
            yield metric, "", figure, read(found)
        for point in found.verdict.certificate:
            yield metric, "", f"ruled out from {point.support}", point.harm
        for place, finding in enumerate(found.findings, start=1):
            yield metric, "", f"finding {place}", name(finding.group)
    columns = result.group_table.columns
    attributes = columns[columns.index("metric") + 1 : columns.index("depth")]
    for row in result.group_table.iter_rows(named=True):
        named = {one: row[one] for one in attributes if row[one] is not None}
        for figure, column in GROUP_FIGURES.items():
            if column in row:
                yield row["metric"], name(named), figure, row[column]


def _mitigation(result: fairrec.MitigationResult) -> Iterator[tuple[str, str, str, Figure]]:
    summary = result.summary
    yield "", "", "strength", summary.strength
    yield "", "", "outcome", summary.outcome
    for when in ("before", "p_before", "after", "p_after"):
        yield summary.metric, "", f"chosen to others, {when}", getattr(summary.to_others, when)
    for metric, effect in summary.effects.items():
        for who in ("chosen", "others", "everyone"):
            change = getattr(effect, who)
            for figure in ("before", "after", "p_value"):
                yield metric, "", f"{who}, {figure}", getattr(change, figure)
    for row in result.changes.iter_rows(named=True):
        attributes = [one for one in row if row[one] is not None and one in ("gender", "member")]
        group = name({one: row[one] for one in attributes})
        for figure in ("support", "before", "after", "change", "p_value", "p_adjusted", "verdict"):
            yield row["metric"], group, figure, row[figure]
    yield from _served(result.predictions)


def _served(lists: pl.DataFrame) -> Iterator[tuple[str, str, str, Figure]]:
    """The re-ranked list of the first users."""
    for user, *items in lists.sort("user_id").head(5).select("user_id", "item_id").iter_rows():
        yield "", str(user), "list", " ".join(map(str, items))


def _counterfactual(result: fairrec.CounterfactualResult) -> Iterator[tuple[str, str, str, Figure]]:
    summary = result.summary
    for figure in ("n", "n_affected", "share", "low", "high"):
        yield summary.affected.metric, "", f"affected, {figure}", getattr(summary.affected, figure)
    for group, changes in [
        ("", summary.changes),
        *((f"{pair.of} -> {pair.to}", pair.changes) for pair in summary.pairs),
    ]:
        for metric, change in changes.items():
            for figure in ("n", "mean", "low", "high", "p_value"):
                yield metric, group, figure, getattr(change, figure)
    yield from _audit(result.audit)
