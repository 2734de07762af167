"""Which items stand in the lists of a group: against an integer programme and by trying all."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx
from scipy.optimize import Bounds, LinearConstraint, milp

from fairrec.metrics import parse_metric
from fairrec.mitigation.rerankers.swap import choose
from tests.metrics.metric_lists import per_user, random_world
from tests.mitigation.rerank_world import RerankWorld, mean_of


class Case:
    """Lists of a group: relevance and gain of their candidates."""

    def __init__(self, relevance, gain, lengths, k: int) -> None:
        self.relevance = np.asarray(relevance, dtype=float)
        self.gain = np.asarray(gain, dtype=float)
        self.bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.k = k

    @property
    def parts(self) -> list[range]:
        return [range(a, b) for a, b in zip(self.bounds, self.bounds[1:], strict=False)]

    def chosen(self, target: float) -> list[int]:
        best = choose(self.relevance, self.gain, self.bounds, self.k, target)
        rows = np.flatnonzero(best).tolist()
        for part in self.parts:
            assert sum(row in part for row in rows) == min(self.k, len(part))
        return rows

    @property
    def places(self) -> list[int]:
        return [min(self.k, len(part)) for part in self.parts]

    @property
    def in_lists(self) -> np.ndarray:
        """(n_lists, n_rows), 1 for the rows of a list."""
        found = np.zeros((len(self.parts), len(self.relevance)))
        for u, part in enumerate(self.parts):
            found[u, list(part)] = 1
        return found

    @property
    def reach(self) -> float:
        """The largest gain of any choice."""
        return sum(
            sorted(self.gain[list(part)])[::-1][place]
            for part in self.parts
            for place in range(min(self.k, len(part)))
        )

    @property
    def start(self) -> float:
        """The gain of the most relevant items."""
        total = 0.0
        for part in self.parts:
            first = sorted(part, key=lambda row: -self.relevance[row])[: self.k]
            total += float(self.gain[first].sum())
        return total


def random_case(seed: int, n_lists: int = 6, longest: int = 9, is_coarse: bool = False) -> Case:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, longest + 1, n_lists)
    n = int(lengths.sum())
    if is_coarse:
        return Case(rng.integers(0, 5, n) / 4, rng.integers(-3, 4, n) / 8, lengths, 3)
    return Case(rng.random(n), rng.normal(size=n), lengths, int(rng.integers(1, 5)))


def best_relevance(case: Case, target: float) -> float:
    """The optimum of the integer programme, by HiGHS."""
    n = len(case.relevance)
    solved = milp(
        -case.relevance,
        integrality=np.ones(n),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(case.in_lists, case.places, case.places),
            LinearConstraint(case.gain[None, :], target, np.inf),
        ],
        options={"mip_rel_gap": 0},
    )
    return -float(solved.fun)


def dearest_list(case: Case) -> float:
    """The most relevance one list can lose."""
    losses = []
    for part in case.parts:
        ordered = sorted(case.relevance[list(part)])
        losses.append(sum(ordered[-case.k :]) - sum(ordered[: case.k]))
    return max(losses)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("is_coarse", [False, True], ids=["real numbers", "ties"])
@pytest.mark.parametrize("n_lists", [6, 60])
def test_a_group_loses_at_most_one_exchange_more_than_the_optimum(n_lists, seed, is_coarse):
    case = random_case(seed, n_lists=n_lists, is_coarse=is_coarse)
    for share in (0.05, 0.4, 0.9):
        target = case.start + share * (case.reach - case.start)
        rows = case.chosen(target)
        assert case.gain[rows].sum() >= target - 1e-9
        lost = best_relevance(case, target) - case.relevance[rows].sum()
        assert -1e-6 <= lost <= dearest_list(case) + 1e-6


@pytest.mark.parametrize("relevance", [0.0, 0.5])
def test_exchanges_between_equally_relevant_items_are_free(relevance):
    # two places: the second and third item are as relevant, the third gains 1
    case = Case([1.0, relevance, relevance] * 50, [0.0, 0.0, 1.0] * 50, [3] * 50, 2)
    rows = case.chosen(15.0)
    assert case.gain[rows].sum() == 15
    assert case.relevance[rows].sum() == approx(50 * (1 + relevance))


# through the lists of a group


def urp_world(rest: float, seed: int = 0, n_groups: int = 2) -> RerankWorld:
    drawn = random_world(np.random.default_rng(seed), n_users=60, n_items=30)
    return RerankWorld(drawn, k=3, group=np.arange(60) % n_groups, rest=rest)


def urp_of(world: RerankWorld, order) -> np.ndarray:
    return per_user(parse_metric("urp@3"), world.ranked_after(order))


@pytest.mark.parametrize("seed", range(4))
def test_group_mean_moves_by_the_share_of_its_distance(seed):
    for rest in (-2.0, -1.0, 0.5):
        world = urp_world(rest, seed)
        before = urp_of(world, world.lists.by_score)
        for strength in (0.1, 0.5, 1.0):
            after = urp_of(world, world.order("swap", strength))
            for group in (0, 1):
                mine = world.group == group
                start, end = mean_of(before[mine]), mean_of(after[mine])
                toward = np.sign(rest - start)
                needed = strength * abs(rest - start)
                reachable = axis_range(world, group, toward) - toward * start
                moved = toward * (end - start)
                assert moved >= min(needed, reachable) - 1e-6
                # and not by much more: one list's exchange
                n = int((~np.isnan(before[mine])).sum())
                assert moved <= needed + widest_exchange(world, group) / n + 1e-6


def axis_range(world: RerankWorld, group: int, toward: float) -> float:
    """The mean URP of a group with its most (or least) popular items, times `toward`."""
    popularity = world.lists.side.popularity
    found = []
    for one in np.flatnonzero(world.group == group):
        own = popularity.history_per_user[one]
        rows = world.rows(one)
        if rows and not np.isnan(own):
            signed = sorted(toward * popularity.per_item[world.lists.items[rows]])[::-1][:3]
            found.append(float(np.mean(signed)) - toward * own)
    return float(np.mean(found))


def widest_exchange(world: RerankWorld, group: int) -> float:
    popularity = world.lists.side.popularity.per_item
    widths = [0.0]
    for one in np.flatnonzero(world.group == group):
        of_items = np.sort(popularity[world.lists.items[world.rows(one)]])
        if len(of_items):
            widths.append(float(of_items[-3:].mean() - of_items[:3].mean()))
    return max(widths)


def test_group_that_is_where_the_others_are_keeps_its_lists():
    world = urp_world(rest=0.0, n_groups=1)
    mean = mean_of(urp_of(world, world.lists.by_score))
    there = urp_world(rest=mean, n_groups=1)
    np.testing.assert_array_equal(there.order("swap", 1.0), there.lists.by_score)
