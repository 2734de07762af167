"""Four users before and after: two women re-ranked, two others left as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fairrec.groups.group import Group
from fairrec.inputs.users import Attribute
from fairrec.metrics import parse_metric
from fairrec.mitigation.effect import BeforeAfter
from fairrec.mitigation.splitting import Choice, Measures
from fairrec.mitigation.tuning import Aim

NAN = np.nan
WOMEN, MEN = Group.of(gender="F"), Group.of(gender="M")


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
        choice=Choice((WOMEN,), (WOMEN,), np.array([True, False, False, False])),
        chosen_by=np.array([[0.1, 0.9, 0.5, NAN], [0.4, 0.8, 0.6, 0.6]]),
        before=np.array([[0.2, 0.4, 0.5, 0.7], [0.5, 0.7, 0.1, 0.3]]),
        after=np.array([[0.4, 0.6, 0.5, 0.7], [0.4, 0.5, 0.1, 0.3]]),
        position=np.array([0, 0, -1, -1]),
        choosers=genders(0, 1, 2, 2),
        users=genders(0, 0, 2, 2),
        alpha=0.05,
    )
    return replace(seen, **changes)
