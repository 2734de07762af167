"""What changes for each user under another value, and the summary over users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray, finite_or_none
from fairrec.core.audit_options import LEAST_USERS, AuditOptions
from fairrec.core.redact_paths import redact_command
from fairrec.core.version import __version__
from fairrec.counterfactuals.ledgers import ScoredValues
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
    lists : (n,), their lists
    metrics : of the options, `affected` among them
    values : (n_metrics, n), over the other values of each user: the mean, or whether any affects
    pairs : own value, other value -> (n_metrics, n users with the first)
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
    """The metrics of the options, those of two lists first, with `affected` among them."""
    both = [metric for metric in wanted if is_of_both(metric)]
    if not any(metric.metric.name == AFFECTED for metric in both):
        k = max((metric.k or 0 for metric in both or wanted), default=0) or DEFAULT_K
        both.append(parse_metric(f"{AFFECTED}@{k}"))
    return (*both, *(metric for metric in wanted if not is_of_both(metric)))


def measure_changes(
    scored: ScoredValues, wanted: tuple[MetricAtK, ...], lists: IntArray, threads: int
) -> Changes:
    """Score the users of some lists under each other value."""
    candidates, side = scored.inputs.candidates, scored.inputs.side
    own = scored.values.value_of_lists[lists]
    # all at once, so that calls are as large as they may be
    scored.as_is.pay_for(lists)
    under, pairs = {}, {}
    for value, ledger in scored.others.items():
        is_other = own != value
        some = lists[is_other]
        before = candidates.take(some, scored.as_is.pay_for(some))
        with scored.errors_under(value):
            after = candidates.take(some, ledger.pay_for(some))
        found = changes_per_list(wanted, before, after, side.for_lists(some), threads)
        # NaN for users with this value
        under[value] = np.full((len(wanted), len(lists)), np.nan)
        under[value][:, is_other] = found
        for first in np.unique(own[is_other]).tolist():
            pairs[first, value] = under[value][:, own == first]
    return Changes(lists, wanted, over_other_values(wanted, under), dict(sorted(pairs.items())))


def build_summary(
    scored: ScoredValues,
    found: Changes,
    as_is: AuditResult | None,
    plan: CounterfactualOptions,
    options: AuditOptions,
    command: str,
) -> CounterfactualSummary:
    """The content of `counterfactual.json`.

    Parameters
    ----------
    as_is : the audit of the same users as they are; None without a metric of one list
    """
    changes, describe = found.means(found.values, options.alpha), scored.values.describe
    at = next(i for i, one in enumerate(found.metrics) if one.metric.name == AFFECTED)
    share = changes[found.metrics[at].name]
    assert share.mean is not None and share.low is not None and share.high is not None
    n_to_score = int(scored.is_to_score.sum())
    # where all users were scored the share is known
    is_exact = share.n == n_to_score
    ledgers = (scored.as_is, *scored.others.values())
    return CounterfactualSummary(
        fairrec_version=__version__,
        command=redact_command(command),
        attribute=plan.attribute,
        reference=describe(next(iter(scored.others))) if plan.reference else None,
        model=scored.model,
        alpha=options.alpha,
        seed=options.seed,
        n_users=len(found.lists),
        n_users_to_score=n_to_score,
        n_left_out=int(scored.has_candidates.sum()) - n_to_score,
        affected=Affected(
            metric=found.metrics[at].name,
            n=share.n,
            n_affected=int(found.values[at].sum()),
            share=share.mean,
            low=share.mean if is_exact else share.low,
            high=share.mean if is_exact else share.high,
        ),
        changes=changes,
        pairs=tuple(
            ValueChange(
                of=describe(own),
                to=describe(value),
                n=values.shape[1],
                changes=found.means(values, options.alpha),
            )
            for (own, value), values in found.pairs.items()
            # means of fewer users are close to single persons' values, and mostly noise
            if values.shape[1] >= LEAST_USERS
        ),
        as_they_are={} if as_is is None else _as_they_are(scored, found, as_is),
        paid=Paid(
            **{name: sum(getattr(one, name) for one in ledgers) for name in Paid.model_fields}
        ),
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
    # without any spread there is no estimate of the error
    has_spread = len(np.unique(row[~np.isnan(row)])) > 1
    ends = np.clip([found.low[0], found.high[0]], *(bounds or (-np.inf, np.inf)))
    low, high = map(finite_or_none, ends.tolist() if has_spread else (np.nan, np.nan))
    return MeanChange(
        n=int(found.n[0]),
        mean=finite_or_none(float(found.change[0])),
        low=low,
        high=high,
        p_value=finite_or_none(float(found.p_value[0])) if is_change else None,
    )


def _as_they_are(scored: ScoredValues, found: Changes, as_is: AuditResult) -> dict[str, AsTheyAre]:
    """The audit of the same users' lists, which sees proxies too."""
    assert as_is.per_user is not None, "everyone is in memory"
    own = scored.values.value_of_lists[found.lists]
    large = [value for value in np.unique(own).tolist() if (own == value).sum() >= LEAST_USERS]
    described = {}
    for name, metric in as_is.metrics.items():
        values = as_is.per_user[name].cast(float).fill_null(np.nan).to_numpy()
        of_value = {scored.values.describe(value): values[own == value] for value in large}
        described[name] = AsTheyAre(
            outcome=None if metric.verdict is None else metric.verdict.outcome,
            n_findings=len(metric.findings),
            means={
                value: float(np.nanmean(some)) if not np.isnan(some).all() else None
                for value, some in of_value.items()
            },
        )
    return described
