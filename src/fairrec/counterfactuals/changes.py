"""What changes for each user, and what a counterfactual says of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.audit_options import LEAST_USERS, AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.redact_paths import redact_command
from fairrec.core.version import __version__
from fairrec.counterfactuals.affected_share import AffectedShare, Sampling
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
from fairrec.statistics.paired import paired_change


@dataclass(frozen=True, slots=True)
class Changes:
    """What changes for the users that were scored, in the order of their lists.

    Parameters
    ----------
    lists : (n,), whose they are
    metrics : those asked for
    values : (n_metrics, n), over the other values of each user: the mean, or whether any affects
    pairs : value they have, value they get -> (n_metrics, n users who have the first)
    sampling : how users were drawn
    """

    lists: IntArray
    metrics: tuple[MetricAtK, ...]
    values: FloatArray
    pairs: Mapping[tuple[int, int], FloatArray]
    sampling: Sampling

    @property
    def changes(self) -> tuple[MetricAtK, ...]:
        """The metrics that the values are."""
        return tuple(map(metric_of_change, self.metrics))

    @property
    def affected_name(self) -> str:
        """The metric that says who is affected, and when sampling ended."""
        return self.metrics[_affected(self.metrics)].name

    @property
    def affected(self) -> AffectedShare:
        """How many of the users are, with the interval for all users like them."""
        is_affected = self.values[_affected(self.metrics)]
        return self.sampling.share(len(is_affected), int(is_affected.sum()))


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
    asked: Asked,
    wanted: tuple[MetricAtK, ...],
    users: IntArray,
    margin: float | None,
    options: AuditOptions,
) -> Changes:
    """Score users batch by batch, until the share affected is known within the margin.

    Parameters
    ----------
    users : their lists, in random order
    margin : None for all of them
    """
    at = _affected(wanted)
    lists = np.empty(0, dtype=np.int64)
    under = {value: np.empty((len(wanted), 0)) for value in asked.others}
    values = np.empty((len(wanted), 0))
    sampling = Sampling(len(users), options.alpha, margin)
    for start, stop in pairwise((0, *sampling.looks)):
        part = _changes_under(asked, wanted, users[start:stop], options.n_threads)
        lists = users[:stop]
        under = {value: np.hstack([under[value], part[value]]) for value in under}
        values = over_other_values(wanted, under)
        if sampling.is_enough(stop, int(values[at].sum())):
            break
    order = np.argsort(lists)
    mine = asked.value_of_lists(lists[order])
    pairs = {
        (int(own), value): changes[:, order][:, mine == own]
        for own in np.unique(mine)
        for value, changes in under.items()
        if own != value
    }
    return Changes(lists[order], wanted, values[:, order], pairs, sampling)


def _affected(metrics: Sequence[MetricAtK]) -> int:
    return next(i for i, metric in enumerate(metrics) if metric.metric.name == AFFECTED)


def _changes_under(
    asked: Asked, wanted: Sequence[MetricAtK], lists: IntArray, threads: int
) -> dict[int, FloatArray]:
    """(n_metrics, n_lists) under each other value; NaN for users who have it."""
    candidates, side = asked.inputs.candidates, asked.inputs.side
    mine = asked.value_of_lists(lists)
    # all at once, so that calls are as large as they may be
    asked.as_is.pay_for(lists)
    under = {}
    for value, ledger in asked.others.items():
        is_other = mine != value
        some = lists[is_other]
        before = candidates.take(some, asked.as_is.pay_for(some))
        with asked.told_under(value):
            after = candidates.take(some, ledger.pay_for(some))
        under[value] = np.full((len(wanted), len(lists)), np.nan)
        under[value][:, is_other] = changes_per_list(
            wanted, before, after, side.for_lists(some), threads
        )
    return under


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
        command=redact_command(command),
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
    mine = asked.value_of_lists(lists)
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
