"""Groups with the mean of all others and another spread: nobody is worse, so nobody is named."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.statistics.rates import Claim
from benchmarks.statistics.said import names_any
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import Draw, World, audited, one_group, random_codes
from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.flat_lists import bounds_of
from fairrec.inputs.side import SideData
from fairrec.metrics import parse_metric
from fairrec.metrics.measured import values_per_list
from fairrec.search.options import SearchOptions

N_USERS, N_GROUP = 1000, 30
NAMED = "any group named"


def wider_spread(
    rng: np.random.Generator, times: float, n_users: int = N_USERS, n_group: int = N_GROUP
) -> World:
    """Normal values, in one group with so many times the spread; two more attributes."""
    is_member = one_group(n_users, n_group)
    values = rng.normal(size=n_users) * np.where(is_member, times, 1.0)
    return World([~is_member, *random_codes(rng, n_users, 3, 4)], values[None])


def auc_of_unequal_positives(rng: np.random.Generator, n_candidates: int = 60) -> World:
    """The AUC of lists ranked at random: one positive in a group, half of the list elsewhere."""
    is_member = one_group(N_USERS, N_GROUP)
    n_positives = np.where(is_member, 1, n_candidates // 2)
    labels = np.arange(n_candidates) < n_positives[:, None]
    values = values_of_lists(rng.random(labels.shape), labels, "auc")
    return World([~is_member, *random_codes(rng, N_USERS, 3, 4)], values, (parse_metric("auc"),))


def values_of_lists(scores: AnyArray, labels: AnyArray, *metrics: str) -> FloatArray:
    """(n_metrics, n_users), the metrics of lists of equal length."""
    import polars as pl

    n_users, n_candidates = labels.shape
    candidates = CandidateLists(
        bounds_of(np.full(n_users, n_candidates)),
        np.tile(np.arange(n_candidates, dtype=np.int32), n_users),
        scores.ravel(),
        labels.astype(np.float64).ravel(),
        pl.Series(np.arange(n_candidates)),
    )
    return values_per_list([*map(parse_metric, metrics)], candidates, SideData())


def anybody(
    seed: int, draw: Draw, how: SearchOptions | None = None, min_support: float | None = None
) -> dict[str, Outcome]:
    """Whether any group is named."""
    world = draw(np.random.default_rng(seed))
    analysis = audited(world, how, seed=seed, min_support=min_support)
    return {NAMED: happened(names_any(analysis))}


def _study(world: str, draw: Draw, before: str, **how: Any) -> Study:
    return Study(world, partial(anybody, draw=draw, **how), (Claim(NAMED, None, 0.08, before),))


STUDIES = (
    _study("a group of 30 of 1,000, twice the spread", partial(wider_spread, times=2), ".24"),
    _study("a group of 30 of 1,000, 3 times the spread", partial(wider_spread, times=3), ".50"),
    _study(
        "a group of 30 of 1,000, 3 times the spread, groups from 2 users",
        partial(wider_spread, times=3),
        ".89",
        min_support=2,
    ),
    _study("AUC, 1 positive of 60 in a group, 30 elsewhere", auc_of_unequal_positives, ".51"),
    *(
        _study(
            f"a group of 60 of 2,000, 3 times the spread, adaptive with {share}",
            partial(wider_spread, times=3, n_users=2 * N_USERS, n_group=2 * N_GROUP),
            before,
            how=SearchOptions("adaptive", budget_users=share),
        )
        for share, before in (("5%", ".11"), ("10%", ".21"), ("30%", ".45"))
    ),
)
