"""What a counterfactual says of all users, beside what an audit says of them as they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.audit_options import LEAST_USERS, AuditOptions
from fairrec.core.told import told_command
from fairrec.core.version import __version__
from fairrec.metrics import MetricAtK
from fairrec.metrics.value_columns import AFFECTED, is_of_both
from fairrec.result.audit_result import AuditResult
from fairrec.result.counterfactual import (
    Affected,
    AsTheyAre,
    CounterfactualSummary,
    MeanChange,
    Paid,
    ValueChange,
)
from fairrec.statistics.paired import AffectedShare, Sampling, paired_change
from fairrec.workflows.counterfactual_asked import Asked
from fairrec.workflows.counterfactual_measured import Changes
from fairrec.workflows.counterfactual_options import CounterfactualOptions


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
    share, name = found.affected, found.affected_name
    n_to_score = int(asked.is_to_score.sum())
    # whoever was scored is known: only those who were not leave a doubt
    is_everyone = share.n == n_to_score
    # values that few have tell what single persons were shown, and are mostly noise
    pairs = {pair: values for pair, values in found.pairs.items() if asked.values is not None}
    ledgers = (asked.as_is, *asked.others.values())
    return CounterfactualSummary(
        fairrec_version=__version__,
        command=told_command(command),
        attribute=plan.attribute,
        reference=asked.words(next(iter(asked.others))) if plan.reference else None,
        model=asked.model,
        other_model=asked.other_model or None,
        alpha=options.alpha,
        seed=options.seed,
        n_users=len(found.lists),
        n_users_to_score=n_to_score,
        n_unknown=int(asked.is_unknown.sum()),
        n_at_reference=int(asked.is_at_reference.sum()),
        affected=Affected(
            metric=name,
            n=share.n,
            n_affected=share.n_affected,
            share=share.share,
            low=share.share if is_everyone else share.low,
            high=share.share if is_everyone else share.high,
            margin_wanted=plan.margin,
        ),
        changes={
            **_means(found.metrics, found.changes, found.values, options.alpha),
            name: _told(share),
        },
        pairs=tuple(
            ValueChange(
                of=asked.words(own),
                to=asked.words(value),
                n=values.shape[1],
                changes=_means(found.metrics, found.changes, values, options.alpha),
            )
            for (own, value), values in pairs.items()
            if values.shape[1] >= LEAST_USERS
        ),
        n_small=sum(values.shape[1] < LEAST_USERS for values in pairs.values()),
        as_they_are={} if as_is is None else _as_they_are(asked, found, as_is),
        paid=Paid(
            users=sum(one.users for one in ledgers),
            users_before=sum(one.users_before for one in ledgers),
            rows=sum(one.rows for one in ledgers),
            calls=sum(one.calls for one in ledgers),
        ),
    )


def _means(
    metrics: Sequence[MetricAtK], changes: Sequence[MetricAtK], values: FloatArray, alpha: float
) -> dict[str, MeanChange]:
    """The mean of each value, with its interval."""
    return {
        change.name: _told(Sampling(len(row), alpha).share(len(row), int(row.sum())))
        if metric.metric.name == AFFECTED
        else _mean(row, alpha, change.metric.bounds, is_change=not is_of_both(metric))
        for metric, change, row in zip(metrics, changes, values, strict=True)
    }


def _told(found: AffectedShare) -> MeanChange:
    return MeanChange(n=found.n, mean=found.share, low=found.low, high=found.high, p_value=None)


def _mean(
    row: FloatArray, alpha: float, bounds: tuple[float, float] | None, *, is_change: bool
) -> MeanChange:
    """The mean of one value; a p-value only of what would be 0 if nothing changed by itself."""
    found = paired_change(np.zeros(len(row)), row, alpha)
    # users who are all alike have no spread to tell how far the mean may be off
    is_told = len(np.unique(row[~np.isnan(row)])) > 1
    least, most = bounds or (-np.inf, np.inf)
    mean, low, high, p_value = (
        None if np.isnan(one[0]) else float(one[0])
        for one in (
            found.change,
            np.clip(found.low, least, most),
            np.clip(found.high, least, most),
            found.p_value,
        )
    )
    return MeanChange(
        n=int(found.n[0]),
        mean=mean,
        low=low if is_told else None,
        high=high if is_told else None,
        p_value=p_value if is_change else None,
    )


def _as_they_are(asked: Asked, found: Changes, as_is: AuditResult) -> dict[str, AsTheyAre]:
    """What the audit of the same users says, which sees proxies too."""
    assert as_is.per_user is not None, "everyone is in memory"
    users = np.sort(asked.inputs.user_of_list[found.lists])
    lists = asked.inputs.list_of_user[users]
    mine = asked.of_list(lists)
    changes = found.values[:, np.searchsorted(found.lists, lists)]
    is_known = dict(zip([one.name for one in found.metrics], ~np.isnan(changes), strict=True))
    said = {}
    for name, about in as_is.metrics.items():
        values = as_is.per_user[name].cast(float).fill_null(np.nan).to_numpy()
        said[name] = AsTheyAre(
            outcome=None if about.verdict is None else about.verdict.outcome,
            n_findings=len(about.findings),
            # beside the change, which is that of users with a value before and after
            mean=_known_mean(values[is_known[name]]),
            means={
                asked.words(int(value)): _known_mean(values[mine == value])
                for value, n in zip(*np.unique(mine[mine >= 0], return_counts=True), strict=True)
                if n >= LEAST_USERS
            },
        )
    return said


def _known_mean(values: FloatArray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
