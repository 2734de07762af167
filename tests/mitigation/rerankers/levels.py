"""What a re-ranker does at rising strength."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fairrec.metrics import parse_metric
from tests.metrics.metric_lists import per_user, random_world
from tests.mitigation.rerank_world import RerankWorld, mean_of


def world_without_ties(seed: int = 0) -> RerankWorld:
    """Long lists of many users."""
    rng = np.random.default_rng(seed)
    drawn = random_world(rng, n_users=200, max_length=20, n_items=40, has_ties=False)
    return RerankWorld(drawn, k=5)


def levels(world: RerankWorld, name: str, level: Callable[[Any], float]) -> list[float]:
    """The mean level at rising strength, the model's own first."""
    orders = [world.lists.by_score, *(world.order(name, s) for s in (0.2, 0.4, 0.6, 0.8, 1.0))]
    return [level(order) for order in orders]


def metric_mean(world: RerankWorld, order: Any, metric: str) -> float:
    """The mean of a metric after a re-ranking."""
    return mean_of(per_user(parse_metric(metric), world.ranked_after(order)))
