"""Who is missing: users without a list, or without a value of a metric.

Dropping them without a word can turn the worst service into an all-clear, so that being missing
is an outcome of its own: its share is tested by group like a metric, in a family apart from the
metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import Metric, MetricAtK
from fairrec.metrics.measured import Measured
from fairrec.metrics.ranked import RankedLists
from fairrec.statistics.analysis import Analysis, analyse
from fairrec.statistics.metric_analysis import MetricAnalysis, analyse_metrics

Kind = Literal["no list", "no relevant item", "undefined"]


@dataclass(frozen=True, slots=True)
class Missing:
    """One way to be missing.

    Parameters
    ----------
    metrics : those it concerns
    counts_as_zero : whether who is missing counts as 0 there, instead of being left out
    n_users, n_missing : who could be missing, and who is; after a search of those drawn at random
    analysis, position : of the share of users who are missing, among others in one analysis
    """

    kind: Kind
    metrics: tuple[str, ...]
    counts_as_zero: bool
    n_users: int
    n_missing: int
    analysis: Analysis
    position: int
    found: MetricAnalysis

    @property
    def largest_share(self) -> float:
        """The largest share in a group that differs from all others, or in these; 0 without any."""
        largest = 0.0
        for group in self.found.findings:
            value = float(self.analysis.estimates.value[self.position, group.position])
            difference = float(self.analysis.estimates.difference[self.position, group.position])
            largest = max(largest, value, value - difference)
        # a mean of centred values may miss a share by the last digits
        return round(largest, 12)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Who is missing: (n_users,), 1 or 0, NaN for who could not be."""

    kind: Kind
    metrics: tuple[str, ...]
    values: FloatArray
    counts_as_zero: bool = False


def analyse_missing(
    measured: Measured, inputs: AuditInputs, grouping: Grouping, options: AuditOptions
) -> tuple[Missing, ...]:
    """Every way in which somebody is missing, with the groups that differ in it."""
    return (
        *_absent(measured, inputs, options),
        *_without_list(measured, inputs, grouping, options),
        *_undefined(measured, inputs, grouping, options),
    )


@dataclass(frozen=True, slots=True)
class Standing:
    """What a metric without findings is worth.

    Parameters
    ----------
    undefined_share : users without a value, among those for whom one is expected
    is_conclusive : false where too many users have none, in all or in a group that differs from the
        rest in it, so that nothing found is no all-clear
    is_constant : the same value for every user, none of whom is left to be scored
    """

    undefined_share: float
    is_conclusive: bool
    is_constant: bool


def standing_of(
    measured: Measured, inputs: AuditInputs, missing: Sequence[Missing], max_undefined: float
) -> tuple[Standing, ...]:
    """How each metric stands."""
    looked_at = measured.is_scored if measured.is_complete else measured.is_reference
    is_expected = inputs.is_expected & looked_at
    n_dropped = len(inputs.absent) if inputs.candidates.held_out is not None else 0
    n_expected = int(is_expected.sum()) + n_dropped
    standing = []
    for metric, row in zip(measured.metrics, measured.values, strict=True):
        share = (int(np.isnan(row[is_expected]).sum()) + n_dropped) / max(1, n_expected)
        in_groups = [one.largest_share for one in missing if metric.name in one.metrics]
        known = row[~np.isnan(row)]
        standing.append(
            Standing(
                share,
                max(share, *in_groups, 0.0) <= max_undefined,
                bool(measured.is_complete and len(known) and known.min() == known.max()),
            )
        )
    return tuple(standing)


def _without_list(
    measured: Measured, inputs: AuditInputs, grouping: Grouping, options: AuditOptions
) -> tuple[Missing, ...]:
    """Users with held-out items who got no list, and are audited all the same."""
    if inputs.candidates.held_out is None:
        return ()
    is_without = inputs.is_without_list & inputs.is_expected
    if not is_without.any():
        return ()
    values = np.where(inputs.is_expected, is_without.astype(np.float64), np.nan)
    outcome = _Outcome("no list", _names(measured), values, counts_as_zero=True)
    # known of everyone, whoever a search has scored
    everyone = np.ones(len(values), dtype=bool)
    return _tested([outcome], everyone, everyone, grouping, options)


def _undefined(
    measured: Measured, inputs: AuditInputs, grouping: Grouping, options: AuditOptions
) -> tuple[Missing, ...]:
    """Each set of users for whom some metrics are undefined."""
    looked_at = inputs.is_expected & measured.is_scored
    has_none_relevant = _has_none_relevant(inputs)
    patterns: dict[bytes, list[MetricAtK]] = {}
    for metric, row in zip(measured.metrics, measured.values, strict=True):
        is_undefined = np.isnan(row) & looked_at
        if is_undefined.any():
            patterns.setdefault(np.packbits(is_undefined).tobytes(), []).append(metric)
    outcomes = []
    for packed, metrics in patterns.items():
        bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=len(looked_at))
        by_label = all("labels" in metric.metric.needs for metric in metrics)
        by_label = by_label and bool(has_none_relevant[bits == 1].all())
        outcomes.append(
            _Outcome(
                "no relevant item" if by_label else "undefined",
                tuple(metric.name for metric in metrics),
                np.where(looked_at, bits.astype(np.float64), np.nan),
            )
        )
    return _tested(outcomes, measured.is_scored, measured.is_reference, grouping, options)


def _has_none_relevant(inputs: AuditInputs) -> BoolArray:
    """(n_users,), users for whom nothing is relevant."""
    if inputs.candidates.labels is None:
        return np.zeros(inputs.n_users, dtype=bool)
    lists = RankedLists(inputs.candidates, 0, inputs.side)
    return np.equal(lists.n_relevant[inputs.list_of_user], 0)


def _absent(measured: Measured, inputs: AuditInputs, options: AuditOptions) -> tuple[Missing, ...]:
    """Users who are not audited at all, among all who ought to be."""
    if not len(inputs.absent):
        return ()
    rows = np.sort(np.concatenate([inputs.rows[inputs.is_expected], inputs.absent]))
    grouping = Grouping.of(inputs.all_users.attributes(rows), options)
    everyone = np.ones(len(rows), dtype=bool)
    is_absent = np.isin(rows, inputs.absent).astype(np.float64)
    outcome = _Outcome("no list", _names(measured), is_absent)
    return _tested([outcome], everyone, everyone, grouping, options)


def _names(measured: Measured) -> tuple[str, ...]:
    return tuple(metric.name for metric in measured.metrics)


def _tested(
    outcomes: Sequence[_Outcome],
    is_scored: BoolArray,
    is_reference: BoolArray,
    grouping: Grouping,
    options: AuditOptions,
) -> tuple[Missing, ...]:
    """Shares by group, tested against chance."""
    if not outcomes:
        return ()
    shares = Measured(
        tuple(MetricAtK(_share_of(outcome), None) for outcome in outcomes),
        np.array([outcome.values for outcome in outcomes]),
        is_scored,
        is_reference,
    )
    analysis = analyse(shares, grouping, options)
    return tuple(
        Missing(
            outcome.kind,
            outcome.metrics,
            outcome.counts_as_zero,
            n_users := int(analysis.moments.n_users[position]),
            round(float(analysis.moments.mean[position]) * n_users),
            analysis,
            position,
            found,
        )
        for position, (outcome, found) in enumerate(
            zip(outcomes, analyse_metrics(analysis), strict=True)
        )
    )


def _share_of(outcome: _Outcome) -> Metric:
    """The share as a metric; neither end is better, because being missing may be no one's fault."""
    return Metric(
        name=f"{outcome.kind}: {', '.join(outcome.metrics)}",
        compute=lambda lists: None,
        higher_is_better=None,
        needs=frozenset(),
        definition="Share of users who are missing.",
        has_cutoff=False,
        bounds=(0.0, 1.0),
    )
