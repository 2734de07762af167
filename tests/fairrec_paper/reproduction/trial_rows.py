"""Rows as trials give them."""

from __future__ import annotations

WHO = {"dataset": "movielens-1m", "model": "wide_deep"}


def found(method: str, gap: float, seed: int = 0, metric: str = "auc", users: int = 50, **more):
    cost = {"users": users, "n_users": 100, "users_together": users, "seconds": 2.0}
    cost["combinations"] = 20
    return {**WHO, "method": method, "seed": seed, "metric": metric, "gap": gap, **cost, **more}


def chance(metric: str, gap: float, by_chance: list[float], min_support: float = 0.001):
    return {
        **WHO,
        "min_support": min_support,
        "metric": metric,
        "gap": gap,
        "chance_mean": 0.25 if by_chance else None,
        "chance_q95": 0.4 if by_chance else None,
        "by_chance": by_chance,
    }


def silent(stage: str, done: int, total: int) -> None:
    """No progress."""
