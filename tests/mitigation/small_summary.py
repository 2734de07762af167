"""A mitigation written down: diversity of one group goes up, and accuracy pays for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairrec.metrics import parse_metric
from fairrec.mitigation.effect import BeforeAfter
from fairrec.mitigation.result import (
    GapToOthers,
    MetricEffect,
    MitigatedGroup,
    MitigationSummary,
    Regression,
    TradeOffPoint,
)
from fairrec.mitigation.tuning import Aim
from fairrec.result.metric_schema import Chance, Change, GapChange

NOTHING = Change(
    n_users=0,
    before=None,
    after=None,
    change=None,
    interval=None,
    p_value=None,
    verdict="unchanged",
)


def change(before: float, after: float, verdict: str = "improved", n_users: int = 40) -> Change:
    """From one mean to another."""
    moved = after - before
    return Change(
        n_users=n_users,
        before=before,
        after=after,
        change=moved,
        interval=(moved - 0.1, moved + 0.1),
        p_value=0.01,
        verdict=verdict,
    )


def same(value: float, n_users: int = 60) -> Change:
    """Nothing happened."""
    return change(value, value, "unchanged", n_users)


def chance(p_value: float) -> Chance:
    return Chance(mean=0.1, q95=0.2, p_value=p_value, permutations=99)


def effect(chosen: Change, everyone: Change, **changes: Any) -> MetricEffect:
    """Of one metric, without a test of the gap unless said otherwise."""
    parts = {
        "higher_is_better": True,
        "is_distance": False,
        "others": same(0.4),
        "gap": GapChange(before=0.4, after=0.2, chance_before=None, chance_after=None),
        "n_groups_worse": 0,
        **changes,
    }
    return MetricEffect(chosen=chosen, everyone=everyone, **parts)


TARGET = effect(change(0.3, 0.5), change(0.36, 0.44))
COST = effect(change(0.5, 0.45, "worse"), change(0.6, 0.594, "worse"))
WOMEN = MitigatedGroup(group={"gender": "F"}, chosen_by=0.25, change=change(0.3, 0.5))
MEN = MitigatedGroup(group={"gender": "M"}, chosen_by=0.75, change=change(0.7, 0.6, "worse"))


def point(strength: float, target: float, cost: float | None = 0.5) -> TradeOffPoint:
    return TradeOffPoint(strength=strength, target=target, cost=cost)


def to_others(before: float, after: float, p_before=0.01, p_after=0.3) -> GapToOthers:
    """How far the chosen groups are behind, before and after."""
    return GapToOthers(before=before, p_before=p_before, after=after, p_after=p_after)


def summary_of(target: MetricEffect = TARGET, **changes: Any) -> MitigationSummary:
    """The mitigation, with some parts changed."""
    parts = {
        "fairrec_version": "0",
        "command": "fairrec mitigate audit",
        "seed": 7,
        "metric": "urd@5",
        "cost_metric": "ndcg@5",
        "reranker": "mmr",
        "about": "about it",
        "strength": 0.5,
        "is_tuned": True,
        "max_loss": 0.02,
        "k": 5,
        "protocol": "validation targets",
        "n_users_choosing": 90,
        "n_users_tuning": 30,
        "n_users_reported": 100,
        "rule": "worst:1",
        "groups": (WOMEN,),
        "alpha": 0.05,
        "effects": {"urd@5": target, "ndcg@5": COST},
        "to_others": to_others(0.1, -0.1),
        "outcome": target.chosen.verdict,
        "regression": Regression(
            chosen_by=0.25, fresh=0.3, others_chosen_by=0.42, others_fresh=0.4
        ),
        "trade_off": (point(0.0, 0.2), point(0.5, 0.35), point(1.0, 0.4)),
        "n_shared_targets": 0,
        "n_group_tests": 12,
        "harmed": (),
        "notes": (),
        **changes,
    }
    return MitigationSummary(**parts)


def before_after(target: str = "urd@5", side: float = 1.0) -> BeforeAfter:
    """Two women who are re-ranked and two others: the target and NDCG.

    Parameters
    ----------
    side : of the women where they were chosen, for a metric of which neither end is better
    """
    metric = parse_metric(target)
    is_distance = metric.metric.higher_is_better is None
    aim = Aim(not is_distance, rest=0.6, is_distance=is_distance, side_of_group=np.array([side]))
    return BeforeAfter(
        target=metric,
        aim=aim,
        before={target: np.array([0.2, 0.4, 0.5, 0.7]), "ndcg@5": np.array([0.5, 0.7, 0.1, 0.3])},
        after={target: np.array([0.4, 0.6, 0.5, 0.7]), "ndcg@5": np.array([0.4, 0.5, 0.1, 0.3])},
        group_of_user=np.array([0, 0, -1, -1]),
        alpha=0.05,
    )
