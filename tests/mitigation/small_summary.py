"""A mitigation written down: diversity of one group goes up, and accuracy pays for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fairrec.groups.group import Group
from fairrec.inputs.users import Attribute
from fairrec.metrics import parse_metric
from fairrec.mitigation.choosing import Aim, Measures
from fairrec.mitigation.effect import BeforeAfter
from fairrec.mitigation.result import (
    DetectableChange,
    GapToOthers,
    GroupCounts,
    MetricEffect,
    MitigatedGroup,
    MitigationSummary,
    Regression,
    TradeOffPoint,
)
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


def counts(**some: int) -> GroupCounts:
    """Groups by what became of them, the rest 0."""
    return GroupCounts(**{**dict.fromkeys(GroupCounts.model_fields, 0), **some})


def detectable(n_groups: int = 0, **some: Any) -> DetectableChange:
    """Half of the groups that see anything see 0.1."""
    return DetectableChange(**{"n_groups": n_groups, "n_blind": 0, "least_shown": 0.1, **some})


def effect(chosen: Change, everyone: Change, **changes: Any) -> MetricEffect:
    """Of one metric, without a test of the gap unless said otherwise."""
    parts = {
        "higher_is_better": True,
        "is_distance": False,
        "others": same(0.4),
        "gap": GapChange(before=0.4, after=0.2, chance_before=None, chance_after=None),
        "groups": counts(),
        "detectable": detectable(),
        **changes,
    }
    return MetricEffect(chosen=chosen, everyone=everyone, **parts)


TARGET = effect(change(0.3, 0.5), change(0.36, 0.44))
COST = effect(change(0.5, 0.45, "worse"), change(0.6, 0.594, "worse"))
WOMEN = MitigatedGroup(group={"gender": "F"}, chosen_by=0.25, change=change(0.3, 0.5))
MEN = MitigatedGroup(group={"gender": "M"}, chosen_by=0.75, change=change(0.7, 0.6, "worse"))


def point(strength: float, tuned: float, tuned_cost: float | None = 0.5) -> TradeOffPoint:
    return TradeOffPoint(
        strength=strength,
        tuned=tuned,
        tuned_cost=tuned_cost,
        reported=tuned + 0.1,
        reported_cost=None,
        everyone_cost=0.6,
    )


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
        "is_upper_bound": False,
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


NAN = np.nan
IS_WOMAN, IS_MAN = Group.of(gender="F"), Group.of(gender="M")


def genders(*codes: int) -> tuple[Attribute, ...]:
    """The attribute of some users: 0 for women, 1 for men, 2 for others."""
    return (Attribute("gender", np.array(codes, dtype=np.int32), ("F", "M", "X")),)


def before_after(target: str = "urd@5", **changes: Any) -> BeforeAfter:
    """The target and NDCG, chosen by four other users."""
    metrics = (parse_metric(target), parse_metric("ndcg@5"))
    is_distance = metrics[0].metric.higher_is_better is None
    seen = BeforeAfter(
        measures=Measures(metrics, target=0, cost=1, threads=1),
        aim=Aim(not is_distance, rest=0.5, is_distance=is_distance),
        chosen=(IS_WOMAN,),
        chosen_by=np.array([[0.1, 0.9, 0.5, NAN], [0.4, 0.8, 0.6, 0.6]]),
        before=np.array([[0.2, 0.4, 0.5, 0.7], [0.5, 0.7, 0.1, 0.3]]),
        after=np.array([[0.4, 0.6, 0.5, 0.7], [0.4, 0.5, 0.1, 0.3]]),
        position=np.array([0, 0, -1, -1]),
        choosers=genders(0, 1, 2, 2),
        users=genders(0, 0, 2, 2),
        alpha=0.05,
    )
    return replace(seen, **changes)
