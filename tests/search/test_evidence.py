"""What scored users add up to, how their values are measured, and the history of the gap."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from pytest import approx

from fairrec.groups.grouping import EVERYONE
from fairrec.metrics import METRICS, MetricAtK, parse_metric
from fairrec.metrics.measured import values_per_list
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.reading import read_inputs
from fairrec.scoring.ledger import Ledger
from fairrec.scoring.scorer import TableScorer
from fairrec.search.evidence import Measure, popularity_proxy
from tests.metrics.metric_lists import asked_for, random_world, ranked_lists, user
from tests.search.search_worlds import evidence_of, skewed_space, space_of, users_of

SEEDS = 1_500


def group_at(space, *codes):
    """The position in the lattice of a group, -1 for "any" in its codes."""
    return space.lattice.codes.tolist().index(list(codes))


def two_by_two():
    """Cells of 4, 2, 1 and 3 users."""
    gender = [0] * 6 + [1] * 4
    age = [0] * 4 + [1] * 2 + [0] * 1 + [1] * 3
    return space_of([gender, age], (2, 2), depth=1)


@pytest.mark.parametrize(
    "codes", [(0, 0), (0, -1), (-1, 1), None], ids=["cell", "two cells", "two others", "everyone"]
)
def test_next_users_are_a_random_sample_of_the_group(codes):
    space = two_by_two()
    group = EVERYONE if codes is None else group_at(space, *codes)
    members = range(10) if codes is None else users_of(space, group)
    pairs = dict.fromkeys(permutations(members, 2), 0)
    for seed in range(SEEDS):
        users = evidence_of(space, np.zeros(10), seed).next_users(group, 2)
        pairs[tuple(users.tolist())] += 1
    expected = SEEDS / len(pairs)
    # chi squared with so many degrees of freedom is hardly ever 5 deviations above its mean
    statistic = sum((n - expected) ** 2 / expected for n in pairs.values())
    assert statistic < len(pairs) - 1 + 5 * np.sqrt(2 * (len(pairs) - 1))


def test_number_scored_in_a_cell_says_who_they_are():
    """Whatever groups were asked for."""
    space = skewed_space(0, (2, 3, 4), 200, 3, depth=2)
    firsts = {}
    for route in range(20):
        rng = np.random.default_rng(route)
        evidence = evidence_of(space, np.zeros(200))
        for _ in range(15):
            group = int(rng.integers(EVERYONE, len(space.lattice)))
            evidence.score(evidence.next_users(group, int(rng.integers(1, 12))))
        for cell, n in enumerate(evidence.n_scored.tolist()):
            scored = np.flatnonzero(evidence.is_scored & (space.cells.of_user == cell)).tolist()
            assert len(scored) == n
            assert firsts.setdefault((cell, n), scored) == scored


def test_sums_are_those_of_the_scored_users():
    space = skewed_space(3, (2, 3, 4), 200, 3)
    rng = np.random.default_rng(0)
    values, proxy = rng.normal(size=(2, 2, 200))
    values[:, ::3] = np.nan
    values[0, ::4] = np.nan
    proxy[:, ::5] = np.nan
    proxy += 10
    evidence = evidence_of(space, values, proxy=proxy)
    scored = []
    for _ in range(4):
        users = evidence.next_users(EVERYONE, 35)
        evidence.score(users)
        scored += users.tolist()
    for metric in range(2):
        # around the mean of those who have a proxy; no proxy says nothing
        centred = np.nan_to_num(proxy[metric] - np.nanmean(proxy[metric]))
        assert evidence.proxy_variance[metric] == approx(np.mean(centred**2))
        for cell in range(len(space.cells)):
            own = [user for user in range(200) if space.cells.of_user[user] == cell]
            seen = [user for user in own if user in scored]
            known = [user for user in seen if not np.isnan(values[metric, user])]
            possible = [user for user in own if user in known or user not in seen]
            value = values[metric]
            assert evidence.n_scored[cell] == len(seen)
            assert evidence.n_defined[metric, cell] == len(known)
            assert evidence.totals[metric, cell] == approx(sum(value[u] for u in known))
            assert evidence.squares[metric, cell] == approx(sum(value[u] ** 2 for u in known))
            assert evidence.proxies[metric, cell] == approx(sum(centred[u] for u in known))
            assert evidence.proxy_squares[metric, cell] == approx(
                sum(centred[u] ** 2 for u in known)
            )
            assert evidence.products[metric, cell] == approx(
                sum(centred[u] * value[u] for u in known)
            )
            assert evidence.all_proxies[metric, cell] == approx(sum(centred[u] for u in possible))


def test_group_with_too_few_defined_users_has_no_value():
    space = space_of([[0] * 3 + [1] * 3], (2,), min_users=2)
    values = np.array([[1, np.nan, np.nan, 1, 3, np.nan]])
    evidence = evidence_of(space, values)
    evidence.score(evidence.next_users(EVERYONE, 6))
    assert evidence.values(space.full)[0] == approx([np.nan, 2], nan_ok=True)


# cut-offs below, at and above the width at which NumPy sums in blocks
EVERY_METRIC = [
    parse_metric(asked_for(name, k))
    for name in sorted(METRICS)
    for k in ((1, 8, 20) if METRICS[name].has_cutoff else (None,))
]


def world_lists(n_users: int = 24, max_length: int = 30, seed: int = 0) -> RankedLists:
    """Ragged lists with categories and history."""
    world = random_world(np.random.default_rng(seed), n_users, max_length, n_items=200)
    return ranked_lists(world.users, world.categories, world.history)


def measure_of(lists: RankedLists, metrics: list[MetricAtK]) -> Measure:
    """A measure whose scores come from the table, in calls of a few lists."""
    ledger = Ledger(lists.candidates, TableScorer(lists.candidates), n_rows_per_call=70)
    return Measure(metrics, lists.candidates, lists.side, ledger)


def test_values_by_hand():
    lists = ranked_lists(
        [user(labels=[0, 1], scores=[0.2, 0.9]), user([0, 0, 1], [0.3, 0.4, 0.1]), []],
        history=[(0, 0), (0, 1), (1, 1), (1, 1)],
    )
    measure = measure_of(lists, [parse_metric("mrr@5"), parse_metric("urp@1")])
    # user 1 has its item in place 3 and gets item 1, 75 % of the history, as in its own;
    # user 0 has its item in place 1; its own history has 25 % and 75 % items
    values = measure(np.array([1, 0]))
    assert values.tolist() == [[1 / 3, 1.0], [0.0, 25.0]]
    assert np.isnan(measure(np.array([2]))).all()


@pytest.mark.parametrize("batch", [1, 7])
def test_batches_give_the_values_of_the_whole_to_the_last_bit(batch: int):
    lists = world_lists()
    whole = values_per_list(EVERY_METRIC, lists.candidates, lists.side)
    order = np.random.default_rng(1).permutation(lists.n_users)
    measure = measure_of(lists, EVERY_METRIC)
    for start in range(0, len(order), batch):
        some = order[start : start + batch]
        assert measure(some).tobytes() == np.ascontiguousarray(whole[:, some]).tobytes()
    assert measure.ledger.rows == len(lists.candidates.scores)


PREDICTIONS = pl.DataFrame(
    {
        "user_id": [1, 1, 1, 2, 2, 2],
        "item_id": [1, 2, 3, 1, 2, 3],
        "score": [9.0, 1.0, 1.0, 1.0, 1.0, 9.0],
        "label": [1, 0, 0, 0, 0, 1],
    }
)


USERS = pl.DataFrame({"user_id": [1, 2], "gender": ["F", "M"]})


def proxy_of(**tables: pl.DataFrame):
    inputs, metrics = read_inputs(
        PREDICTIONS, users=USERS, by="gender", metrics="mrr@3", wants=("history",), **tables
    )
    return popularity_proxy(inputs, metrics)


def test_the_proxy_is_the_metric_of_a_ranking_by_popularity_whatever_the_scores():
    # item 3 is the most popular, item 1 the least
    history = pl.DataFrame({"user_id": [1, 2, 1], "item_id": [3, 3, 2]})
    (values,) = proxy_of(history=history)
    assert values.tolist() == approx([1 / 3, 1])
