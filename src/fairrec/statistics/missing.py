"""Missing users: those without a list, or without a value of a metric.

Dropping them silently can hide the worst service. So being missing is an outcome
of its own: its share is tested by group like a metric, in a family apart from the metrics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, Field

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.group import GroupValue
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.users import Attribute
from fairrec.metrics import Metric, MetricAtK
from fairrec.metrics.measured import Measured
from fairrec.metrics.ranked import RankedLists
from fairrec.statistics.analysis import Analysis, analyse
from fairrec.statistics.findings import Finding, describe_findings, list_findings

MissingKind = Literal[
    "no list", "no relevant item", "undefined", "no held-out items", "not evaluated"
]

UNDEFINED: tuple[MissingKind, ...] = ("no relevant item", "undefined")
"""The kinds that differ by metric."""
SHARES_SHOWN = 50
_LEAST_PRESENT = 0.05
"""The share of users present, relative to that of all others, from which they represent a group."""


class MissingUsers(BaseModel, frozen=True, extra="forbid"):
    """Users without a list or a value; tested by group, in a family apart from the metrics."""

    kind: MissingKind = Field(
        description="no list: not served at all; no relevant item: none among the candidates or "
        "held-out items; undefined: any other reason why metrics have no value; no held-out "
        "items: a list, and nothing to judge it by; not evaluated: neither of the two"
    )
    metrics: tuple[str, ...] = Field(description="the metrics it concerns")
    counts_as_zero: bool = Field(
        description="whether these users count as 0 in its metrics, instead of being left out"
    )
    n_users: int = Field(description="users who could be missing")
    n_missing: int
    is_tested: bool
    permutations: int = Field(default=0, description="behind its p-values")
    is_too_much: bool = Field(
        default=False,
        description="a group differs so much that a metric without findings is inconclusive",
    )
    findings: tuple[Finding, ...] = Field(
        description="groups whose share of missing users differs from the rest; value is the share"
    )
    shares: tuple[GroupValue, ...] = Field(
        description="the share in each group of one attribute, largest first, at most 50"
    )

    @property
    def share(self) -> float:
        """The share of users who are missing."""
        return self.n_missing / max(1, self.n_users)


@dataclass(frozen=True, slots=True)
class MissingOutcome:
    """One way in which users may be missing, as a metric of ones and zeros.

    Parameters
    ----------
    metrics : those it concerns
    share : one metric, 1 for missing users, 0 for others, undefined where it does not apply
    attributes : of these users; None where they are the audited ones
    n_users : (n_rows,), users of each row; None where a row is a user
    counts_as_zero : whether missing users count as 0, instead of being left out
    is_no_fault : whether it may be due to the users themselves, such as their activity: then it
        is too much only where hardly any user of a group is left
    """

    kind: MissingKind
    metrics: tuple[str, ...]
    share: Measured
    attributes: tuple[Attribute, ...] | None = None
    n_users: IntArray | None = None
    counts_as_zero: bool = False
    is_no_fault: bool = False


def possible_outcomes(measured: Measured, inputs: AuditInputs) -> list[MissingOutcome]:
    """Every way in which users may be missing in these tables, each metric by itself.

    Outcomes without a missing user are included, as another part of the users may have some.
    """
    metrics, is_expected = measured.metrics, inputs.is_expected
    labelled = [metric for metric in metrics if "labels" in metric.metric.needs]
    # users who are not audited at all, among all who ought to be
    due = np.sort(np.concatenate([inputs.rows[is_expected], inputs.absent]))
    is_absent = np.isin(due, inputs.absent)
    outcomes = [_outcome("no list", metrics, is_absent, inputs.all_users.attributes(due))]
    # what is read off other tables is undefined for an empty list
    zero = [metric for metric in metrics if metric.metric.needs <= {"labels"}]
    if inputs.candidates.held_out is not None and zero:
        without = np.where(is_expected, inputs.is_without_list, np.nan)
        outcomes.append(_outcome("no list", zero, without, counts_as_zero=True))
    outcomes += _undefined(measured, inputs)
    if labelled:
        outcomes.append(_outcome("no held-out items", labelled, ~is_expected, is_no_fault=True))
    rows = np.arange(len(inputs.all_users.ids))
    is_unseen, attributes = np.isin(rows, inputs.unseen), inputs.all_users.attributes(rows)
    # where others without held-out items have a list, these ought to have one too
    is_no_fault = bool(is_expected.all())
    outcomes.append(
        _outcome("not evaluated", metrics, is_unseen, attributes, is_no_fault=is_no_fault)
    )
    return outcomes


def _merge_alike(outcomes: Sequence[MissingOutcome]) -> list[MissingOutcome]:
    """One outcome for all metrics that are undefined for the same users."""
    joined: dict[object, MissingOutcome] = {}
    for place, outcome in enumerate(outcomes):
        share = outcome.share
        key: object = place
        if outcome.kind in UNDEFINED:
            counted = b"" if share.alike is None else share.alike.n.tobytes()
            key = share.values.tobytes() + counted
        same = joined.setdefault(key, outcome)
        if same is not outcome:
            metrics = (*same.metrics, *outcome.metrics)
            kind: MissingKind = same.kind if same.kind == outcome.kind else "undefined"
            named = replace(share, metrics=(missing_share(kind, metrics),))
            joined[key] = replace(same, kind=kind, metrics=metrics, share=named)
    return [*joined.values()]


def analyse_outcomes(
    outcomes: Sequence[MissingOutcome], grouping: Grouping, options: AuditOptions
) -> tuple[MissingUsers, ...]:
    """The outcomes with missing users, and the groups that differ in each.

    Each is a family of its own, so that a rare one does not hide another; they share alpha.
    """
    outcomes = _merge_alike([one for one in outcomes if (one.share.values == 1).any()])
    alpha = options.alpha / max(1, len(outcomes))
    # as many as that level needs
    permutations = options.permutations and max(options.permutations, math.ceil(2 / alpha))
    options = replace(options, alpha=alpha, permutations=permutations, tolerance=None)
    return tuple(_tested(outcome, grouping, options) for outcome in outcomes)


def expects_value(metric: MetricAtK, inputs: AuditInputs) -> BoolArray:
    """(n_users,), for whom a value is expected; accuracy alone needs held-out items."""
    if "labels" in metric.metric.needs:
        return inputs.is_expected
    return np.ones(inputs.n_users, dtype=bool)


def undefined_users(
    metric: MetricAtK, row: FloatArray, measured: Measured, has_none: BoolArray
) -> tuple[BoolArray, BoolArray]:
    """(n_users,) each, users without a value, and a random sample of whom that is known."""
    is_undefined = np.isnan(row)
    if measured.is_complete:
        return is_undefined, measured.is_scored
    scored = measured.is_scored
    by_label = "labels" in metric.metric.needs
    if by_label and (is_undefined == has_none)[scored].all():
        # labels show it of all users before any is scored
        return has_none, np.ones(len(row), dtype=bool)
    return is_undefined & scored, measured.is_reference


def _undefined(measured: Measured, inputs: AuditInputs) -> list[MissingOutcome]:
    """The users for whom each metric is undefined."""
    has_none = has_none_relevant(inputs)
    outcomes = []
    for metric, row in zip(measured.metrics, measured.terms, strict=True):
        is_undefined, looked_at = undefined_users(metric, row, measured, has_none)
        is_known = expects_value(metric, inputs) & (looked_at | measured.is_scored)
        values = np.where(is_known, is_undefined.astype(np.float64), np.nan)
        by_label = "labels" in metric.metric.needs and bool(has_none[values == 1].all())
        is_everyone = bool(looked_at.all())
        outcomes.append(
            _outcome(
                "no relevant item" if by_label else "undefined",
                [metric],
                values,
                known=None if is_everyone else (measured.is_scored, measured.is_reference),
            )
        )
    return outcomes


def has_none_relevant(inputs: AuditInputs) -> BoolArray:
    """(n_users,), users for whom nothing is relevant."""
    if inputs.candidates.labels is None:
        return np.zeros(inputs.n_users, dtype=bool)
    lists = RankedLists(inputs.candidates, 0, inputs.side)
    return np.equal(lists.n_relevant[inputs.list_of_user], 0)


def _outcome(
    kind: MissingKind,
    metrics: Sequence[MetricAtK],
    values: FloatArray | BoolArray,
    attributes: tuple[Attribute, ...] | None = None,
    *,
    known: tuple[BoolArray, BoolArray] | None = None,
    counts_as_zero: bool = False,
    is_no_fault: bool = False,
) -> MissingOutcome:
    """An outcome of users.

    Parameters
    ----------
    values : (n_users,), 1 or 0, NaN where it does not apply
    known : users whose outcome is known, and a random sample of them; None where all are known
    """
    names = tuple(metric.name for metric in metrics)
    everyone = np.ones(len(values), dtype=bool)
    ones = values[np.newaxis].astype(np.float64)
    share = Measured((missing_share(kind, names),), ones, *(known or (everyone, everyone)))
    return MissingOutcome(
        kind, names, share, attributes, counts_as_zero=counts_as_zero, is_no_fault=is_no_fault
    )


def _tested(outcome: MissingOutcome, grouping: Grouping, options: AuditOptions) -> MissingUsers:
    """The share of users who are missing by group, tested against chance."""
    if outcome.attributes is not None:
        grouping = Grouping.of(outcome.attributes, options, outcome.n_users)
    analysis = analyse(outcome.share, grouping, options)
    n_users = int(analysis.moments.n_users[0])
    values, support = analysis.estimates.value[0], analysis.moments.n[0]
    # a share of very few users is noise, and reveals single users
    groups = np.flatnonzero((analysis.grouping.lattice.depth == 1) & analysis.is_tested[0])
    largest = groups[np.lexsort((groups, -values[groups]))][:SHARES_SHOWN]
    return MissingUsers(
        kind=outcome.kind,
        metrics=outcome.metrics,
        counts_as_zero=outcome.counts_as_zero,
        n_users=n_users,
        n_missing=round(float(analysis.moments.mean[0]) * n_users),
        is_tested=analysis.test is not None,
        permutations=analysis.n_permutations,
        is_too_much=_is_too_much(analysis, outcome.is_no_fault),
        findings=describe_findings(0, list_findings(0, analysis)[0], analysis),
        shares=tuple(grouping.describe(at, values[at], support[at]) for at in largest),
    )


def _is_too_much(analysis: Analysis, is_no_fault: bool) -> bool:
    """Whether a group differs so much that a metric without findings is inconclusive.

    More than the allowed share is missing in the group or among all others; or, where that may be
    due to the users themselves, one side is present less than a twentieth as often as the other.
    """
    allowed = analysis.options.max_undefined
    groups = np.flatnonzero(analysis.is_beyond_chance[0])
    share = analysis.estimates.value[0, groups]
    of_others = share - analysis.estimates.difference[0, groups]
    if is_no_fault:
        present = np.sort([1 - share, 1 - of_others], axis=0)
        lost = 1 - present[0] / np.maximum(present[1], 1e-12)
        return bool((lost.round(12) > max(1 - _LEAST_PRESENT, allowed)).any())
    # a mean of centred values may miss a share by the last digits
    return bool((np.maximum(share, of_others).round(12) > allowed).any())


def missing_share(kind: MissingKind, metrics: Sequence[str]) -> MetricAtK:
    """The share as a metric of which neither end is better."""
    share = Metric(
        name=f"{kind}: {', '.join(metrics)}",
        compute=lambda lists: None,
        higher_is_better=None,
        needs=frozenset(),
        definition="Share of users who are missing.",
        has_cutoff=False,
        bounds=(0.0, 1.0),
    )
    return MetricAtK(share, None)


@dataclass(frozen=True, slots=True)
class Conclusiveness:
    """Whether a metric without findings is conclusive.

    Parameters
    ----------
    undefined_share : users without a value, among those for whom one is expected
    is_conclusive : false where too many users have none, in all or in a group that differs from the
        rest in it
    is_constant : the same value for every user, all of whom are scored
    """

    undefined_share: float
    is_conclusive: bool
    is_constant: bool


class ExpectedUsers(NamedTuple):
    """For how many users a value is expected, and how many of them have none.

    After a search, as estimated from those drawn at random.
    """

    n_users: float
    n_undefined: float

    @property
    def undefined_share(self) -> float:
        """Users without a value among them."""
        return self.n_undefined / max(1, self.n_users)


def count_expected(measured: Measured, inputs: AuditInputs) -> tuple[ExpectedUsers, ...]:
    """The users who are expected to have a value, for each metric."""
    n_dropped = len(inputs.absent) if inputs.candidates.held_out is not None else 0
    has_none = has_none_relevant(inputs)
    expected = []
    for metric, row in zip(measured.metrics, measured.terms, strict=True):
        is_expected = expects_value(metric, inputs)
        if inputs.given.relevant is not None and inputs.candidates.held_out is not None:
            # users without anything relevant have nothing to be found; tested by group alone
            is_expected = is_expected & ~has_none
        is_undefined, looked_at = undefined_users(metric, row, measured, has_none)
        n_looked_at = int((is_expected & looked_at).sum())
        share = int((is_undefined & is_expected & looked_at).sum()) / max(1, n_looked_at)
        n_expected = int(is_expected.sum())
        expected.append(ExpectedUsers(n_expected + n_dropped, share * n_expected + n_dropped))
    return tuple(expected)


def assess_conclusiveness(
    measured: Measured,
    expected: Sequence[ExpectedUsers],
    missing: Sequence[MissingUsers],
    max_undefined: float,
) -> tuple[Conclusiveness, ...]:
    """Whether each metric is conclusive."""
    found = []
    for i, metric in enumerate(measured.metrics):
        share = expected[i].undefined_share
        concerned = [one for one in missing if metric.name in one.metrics]
        column = measured.column(i)
        is_one = len(column.known) > 0 and column.known.min() == column.known.max()
        found.append(
            Conclusiveness(
                share,
                round(share, 12) <= max_undefined and not any(one.is_too_much for one in concerned),
                bool(measured.is_complete and is_one and not column.inner.any()),
            )
        )
    return tuple(found)
