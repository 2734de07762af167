"""Item ids of recommendations that are the internal numbers of a library."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import poisson

from fairrec.inputs.mismatched_ids import MismatchNote
from tests.builders import audit

N_USERS, N_ITEMS, K = 400, 300, 10


class World:
    """Users with tastes, whose model knows them or not."""

    def __init__(self, seed: int = 0, n_users: int = N_USERS) -> None:
        self.rng = rng = np.random.default_rng(seed)
        popularity = 1 / np.arange(1, N_ITEMS + 1)
        chance = rng.permuted(popularity / popularity.sum())
        self.users = pl.DataFrame({"user_id": range(n_users), "g": rng.choice([*"xy"], n_users)})
        self.wanted = [rng.choice(N_ITEMS, 4, replace=False, p=chance) for _ in range(n_users)]
        self.order = np.argsort(-chance)
        self.chance = chance

    def of_model(self) -> list[np.ndarray]:
        """Lists by popularity, with every third held-out item among them."""
        return [
            np.array([*{*wanted[self.rng.random(4) < 1 / 3], *self._drawn()}][:K])
            for wanted in self.wanted
        ]

    def random(self) -> list[np.ndarray]:
        return [self.rng.choice(N_ITEMS, K, replace=False) for _ in self.wanted]

    def popular(self) -> list[np.ndarray]:
        return [self.order[:K] for _ in self.wanted]

    def _drawn(self) -> np.ndarray:
        return self.rng.choice(N_ITEMS, K, replace=False, p=self.chance)

    def checks(self, lists, first=0, seen_as=lambda items: items) -> list[str]:
        """What is to be checked, where held-out ids begin at `first`."""
        recs = pl.DataFrame(
            [(u, int(i), r) for u, one in enumerate(lists) for r, i in enumerate(seen_as(one), 1)],
            schema=["user_id", "item_id", "rank"],
            orient="row",
        )
        test = pl.DataFrame(
            [(u, int(i) + first) for u, one in enumerate(self.wanted) for i in one],
            schema=["user_id", "item_id"],
            orient="row",
        )
        result = audit(recs, self.users, "g", test=test, metrics="recall@10", permutations=0)
        return [one for one in result.warnings if one.startswith("check: the lists")]


def test_internal_numbers_are_noted_with_the_table_to_look_at():
    world = World()
    numbers = world.rng.permutation(N_ITEMS)
    (said,) = world.checks(world.of_model(), first=1, seen_as=lambda items: numbers[items])
    assert said.startswith("check: the lists in the predictions table hit ")
    assert said.endswith(
        ". Check that both tables have the same item ids: 0 to 299 in the predictions table, 1 to "
        "300 in the test table. Those of the predictions table may be the numbers that a library "
        "gives to items"
    )


@pytest.mark.parametrize("kind", ["of_model", "random", "popular"])
def test_lists_of_the_same_ids_are_not_accused(kind):
    for seed in range(5):
        world = World(seed)
        assert world.checks(getattr(world, kind)()) == []


def test_few_users_are_not_enough_to_accuse():
    world = World(n_users=15)
    numbers = world.rng.permutation(N_ITEMS)
    assert world.checks(world.of_model(), seen_as=lambda items: numbers[items]) == []


def test_hits_of_parts_add_up_to_the_bound_of_their_sum():
    def note(hits, by_popularity, is_unrelated=True):
        return MismatchNote("p", "t", hits, by_popularity, float(hits), is_unrelated)

    one = note(4, 12.0)
    assert poisson.cdf(4, 12) > 1e-3 > poisson.cdf(8, 24)
    assert str(one) == ""
    assert "hit 8 held-out items" in str(one + one)
    # what one part clears is cleared
    assert str(one + one + note(0, 9.0, is_unrelated=False)) == ""
    assert str(note(8, 24.0) + MismatchNote("p", "t", 30, 3.0)) == ""
