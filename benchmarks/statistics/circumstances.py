"""Lists of one quality under other circumstances: length and positives differ by group."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.statistics.lists import measured_lists, random_lists
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.spread import NAMED, anybody
from benchmarks.statistics.study import Study
from benchmarks.statistics.world import Draw, World, one_group, random_codes

N_USERS, N_GROUP = 1000, 100
METRICS = ("ndcg@5", "mrr@5", "hit@5")
GROUP = f"in a group of {N_GROUP} of {N_USERS:,}"


def unequal_lists(
    rng: np.random.Generator,
    n_candidates: tuple[int, int] = (50, 50),
    n_positives: tuple[int, int] = (1, 1),
) -> World:
    """Scores of one quality for all, in lists of another length, or with other positives.

    Parameters
    ----------
    n_candidates, n_positives : in the group and elsewhere
    """
    is_member = one_group(N_USERS, N_GROUP)
    lists = random_lists(
        rng,
        n_candidates=np.where(is_member, *n_candidates),
        n_positives=np.where(is_member, *n_positives),
        lift=np.ones(N_USERS),
    )
    codes = [~is_member, *random_codes(rng, N_USERS, 3, 4)]
    return World(codes, *measured_lists(lists, *METRICS))


def _study(world: str, draw: Draw) -> Study:
    # the metrics do differ: what is wanted is a word about why
    return Study(
        f"{', '.join(METRICS)}, {world}",
        partial(anybody, draw=draw),
        (Claim(NAMED, before=".45-1.00"),),
    )


STUDIES = (
    _study(
        f"lists of 50 {GROUP}, of 10 elsewhere",
        partial(unequal_lists, n_candidates=(50, 10)),
    ),
    _study(
        f"1 positive {GROUP}, 5 elsewhere",
        partial(unequal_lists, n_positives=(1, 5)),
    ),
)
