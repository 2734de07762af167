"""What changes for each user, and what a counterfactual says of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray, finite_or_none
from fairrec.core.audit_options import LEAST_USERS, AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.redact_paths import redact_command
from fairrec.core.version import __version__
from fairrec.counterfactuals.ledgers import Asked
from fairrec.counterfactuals.options import CounterfactualOptions
from fairrec.counterfactuals.result import (
    Affected,
    AsTheyAre,
    CounterfactualSummary,
    MeanChange,
    Paid,
    ValueChange,
)
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.metrics.parsing import DEFAULT_K
from fairrec.metrics.value_columns import (
    AFFECTED,
    changes_per_list,
    is_of_both,
    metric_of_change,
    over_other_values,
)
from fairrec.report.audit_result import AuditResult
from fairrec.statistics.paired import binomial_interval, paired_change


@dataclass(frozen=True, slots=True)
class Changes:
    """What changes for the users that were scored, in their order.

    Parameters
    ----------
    lists : (n,), whose they are
    metrics : those asked for, who is affected among them
    values : (n_metrics, n), over the other values of each user: the mean, or whether any affects
    pairs : value they have, value they get -> (n_metrics, n users who have the first)
    """

    lists: IntArray
    metrics: tuple[MetricAtK, ...]
    values: FloatArray
    pairs: Mapping[tuple[int, int], FloatArray]

    @property
    def changes(self) -> tuple[MetricAtK, ...]:
        """The metrics that the values are."""
        return tuple(map(metric_of_change, self.metrics))

    def means(self, values: FloatArray, alpha: float) -> dict[str, MeanChange]:
        """The mean of each value over some users, with its interval."""
        return {
            change.name: _affected_share(row, alpha)
            if metric.metric.name == AFFECTED
            else _mean(row, alpha, change.metric.bounds, is_change=not is_of_both(metric))
            for metric, change, row in zip(self.metrics, self.changes, values, strict=True)
        }


def with_affected(wanted: Sequence[MetricAtK]) -> tuple[MetricAtK, ...]:
    """The metrics asked for, those of two lists first, and who is affected among them."""
    for metric in wanted:
        if metric.metric.pooled:
            raise InputError(
                f"Metric '{metric.name}' is a value of a group and changes for no user by itself. "
                "Leave it out."
            )
    both = [metric for metric in wanted if is_of_both(metric)]
    if not any(metric.metric.name == AFFECTED for metric in both):
        k = max((metric.k or 0 for metric in both or wanted), default=0) or DEFAULT_K
        both.append(parse_metric(f"{AFFECTED}@{k}"))
    return (*both, *(metric for metric in wanted if not is_of_both(metric)))


def measure_changes(
    asked: Asked, wanted: tuple[MetricAtK, ...], lists: IntArray, threads: int
) -> Changes:
    """Score the users of some lists under each other value."""
    candidates, side = asked.inputs.candidates, asked.inputs.side
    mine = asked.values.value_of_lists[lists]
    # all at once, so that calls are as large as they may be
    asked.as_is.pay_for(lists)
    under, pairs = {}, {}
    for value, ledger in asked.others.items():
        is_other = mine != value
        some = lists[is_other]
        before = candidates.take(some, asked.as_is.pay_for(some))
        with asked.told_under(value):
            after = candidates.take(some, ledger.pay_for(some))
        found = changes_per_list(wanted, before, after, side.for_lists(some), threads)
        # NaN for users who have it
        under[value] = np.full((len(wanted), len(lists)), np.nan)
        under[value][:, is_other] = found
        for own in np.unique(mine[is_other]).tolist():
            pairs[own, value] = under[value][:, mine == own]
    return Changes(lists, wanted, over_other_values(wanted, under), dict(sorted(pairs.items())))


def counterfactual_summary(
    asked: Asked,
    found: Changes,
    as_is: AuditResult | None,
    plan: CounterfactualOptions,
    options: AuditOptions,
    command: str,
) -> CounterfactualSummary:
    """The content of `counterfactual.json`.

    Parameters
    ----------
    as_is : the audit of the same users as they are; None where no metric of one list is wanted
    """
    changes, n_to_score = found.means(found.values, options.alpha), int(asked.is_to_score.sum())
    at = next(i for i, one in enumerate(found.metrics) if one.metric.name == AFFECTED)
    name, n_affected = found.metrics[at].name, int(found.values[at].sum())
    share = changes[name]
    assert share.mean is not None and share.low is not None and share.high is not None
    # whoever was scored is known: only those who were not leave a doubt
    is_everyone = share.n == n_to_score
    ledgers = (asked.as_is, *asked.others.values())
    paid = {field: sum(getattr(ledger, field) for ledger in ledgers) for field in Paid.model_fields}
    return CounterfactualSummary(
        fairrec_version=__version__,
        command=redact_command(command),
        attribute=plan.attribute,
        reference=asked.values.words(next(iter(asked.others))) if plan.reference else None,
        model=asked.model,
        alpha=options.alpha,
        seed=options.seed,
        n_users=len(found.lists),
        n_users_to_score=n_to_score,
        n_unknown=int(asked.is_unknown.sum()),
        n_at_reference=int(asked.is_at_reference.sum()),
        affected=Affected(
            metric=name,
            n=share.n,
            n_affected=n_affected,
            share=share.mean,
            low=share.mean if is_everyone else share.low,
            high=share.mean if is_everyone else share.high,
        ),
        changes=changes,
        pairs=tuple(
            ValueChange(
                of=asked.values.words(own),
                to=asked.values.words(value),
                n=values.shape[1],
                changes=found.means(values, options.alpha),
            )
            for (own, value), values in found.pairs.items()
            # values that few have tell what single persons were shown, and are mostly noise
            if values.shape[1] >= LEAST_USERS
        ),
        n_small=sum(values.shape[1] < LEAST_USERS for values in found.pairs.values()),
        as_they_are={} if as_is is None else _as_they_are(asked, found, as_is),
        paid=Paid(**paid),
    )


def _affected_share(row: FloatArray, alpha: float) -> MeanChange:
    """How many of some users are affected: Themis' causal score (Galhotra 2017)."""
    n, hits = len(row), int(row.sum())
    low, high = (float(end) for end in binomial_interval(np.array(n), np.array(hits), alpha))
    return MeanChange(n=n, mean=hits / max(n, 1), low=low, high=high, p_value=None)


def _mean(
    row: FloatArray, alpha: float, bounds: tuple[float, float] | None, *, is_change: bool
) -> MeanChange:
    """The mean of one value; a p-value only of what would be 0 if nothing changed by itself."""
    found = paired_change(np.zeros(len(row)), row, alpha)
    # users who are all alike have no spread to tell how far the mean may be off
    is_told = len(np.unique(row[~np.isnan(row)])) > 1
    ends = np.clip([found.low[0], found.high[0]], *(bounds or (-np.inf, np.inf)))
    low, high = map(finite_or_none, ends.tolist() if is_told else (np.nan, np.nan))
    return MeanChange(
        n=int(found.n[0]),
        mean=finite_or_none(float(found.change[0])),
        low=low,
        high=high,
        p_value=finite_or_none(float(found.p_value[0])) if is_change else None,
    )


def _as_they_are(asked: Asked, found: Changes, as_is: AuditResult) -> dict[str, AsTheyAre]:
    """What the audit of the same users says, which sees proxies too."""
    assert as_is.per_user is not None, "everyone is in memory"
    mine = asked.values.value_of_lists[found.lists]
    values_of_mine = [*zip(*np.unique(mine[mine >= 0], return_counts=True), strict=True)]
    changes = dict(zip([one.name for one in found.metrics], found.values, strict=True))
    said = {}
    for name, about in as_is.metrics.items():
        values = as_is.per_user[name].cast(float).fill_null(np.nan).to_numpy()
        said[name] = AsTheyAre(
            outcome=None if about.verdict is None else about.verdict.outcome,
            n_findings=len(about.findings),
            # beside the change, which is that of users with a value before and after
            mean=_known_mean(values[~np.isnan(changes[name])]),
            means={
                asked.values.words(int(value)): _known_mean(values[mine == value])
                for value, n in values_of_mine
                if n >= LEAST_USERS
            },
        )
    return said


def _known_mean(values: FloatArray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
