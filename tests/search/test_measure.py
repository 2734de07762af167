"""Values measured in batches are those of everyone at once, and scores are paid for once."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.inputs.side_data import Categories, Popularity, SideData
from fairrec.metrics import METRICS, MetricAtK, parse_metric
from fairrec.metrics.measured import values_per_list
from fairrec.metrics.ranked import RankedLists
from fairrec.scoring.ledger import Ledger
from fairrec.scoring.scorer import TableScorer
from fairrec.search.measure import Measure
from tests.metrics.metric_lists import asked_for, per_user, random_world, ranked_lists, user

# cut-offs below, at and above the width at which NumPy sums in blocks
EVERY_METRIC = [
    parse_metric(asked_for(name, k))
    for name in sorted(METRICS)
    if not METRICS[name].pooled
    for k in ((1, 5, 8, 20, 140) if METRICS[name].has_cutoff else (None,))
]


def world_lists(n_users: int = 60, max_length: int = 30, seed: int = 0) -> RankedLists:
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


@pytest.mark.parametrize("batch", [1, 2, 7, 60])
def test_batches_give_the_values_of_the_whole_to_the_last_bit(batch: int):
    lists = world_lists()
    whole = values_per_list(EVERY_METRIC, lists.candidates, lists.side)
    order = np.random.default_rng(1).permutation(lists.n_users)
    measure = measure_of(lists, EVERY_METRIC)
    for start in range(0, len(order), batch):
        some = order[start : start + batch]
        assert measure(some).tobytes() == np.ascontiguousarray(whole[:, some]).tobytes()
    assert measure.ledger.rows == len(lists.candidates.scores)


def test_each_metric_has_the_value_it_has_alone():
    lists = world_lists()
    together = values_per_list(EVERY_METRIC, lists.candidates, lists.side)
    for metric, values in zip(EVERY_METRIC, together, strict=True):
        (alone,) = values_per_list([metric], lists.candidates, lists.side)
        np.testing.assert_array_equal(alone, values, err_msg=metric.name)
        np.testing.assert_array_equal(per_user(metric, lists), values, err_msg=metric.name)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(threads: int):
    lists = world_lists()
    ledger = Ledger(lists.candidates, TableScorer(lists.candidates))
    measure = Measure(EVERY_METRIC, lists.candidates, lists.side, ledger, threads)
    values = measure(np.arange(lists.n_users))
    expected = values_per_list(EVERY_METRIC, lists.candidates, lists.side)
    np.testing.assert_array_equal(values, expected)


def test_nobody_and_the_same_user_twice_can_be_measured():
    lists = world_lists()
    measure = measure_of(lists, EVERY_METRIC)
    assert measure(np.empty(0, dtype=np.int64)).shape == (len(EVERY_METRIC), 0)
    values = measure(np.array([3, 8, 3]))
    np.testing.assert_array_equal(values[:, 0], values[:, 2])
    assert measure.ledger.users == 2


def test_users_may_have_another_order_than_their_lists():
    lists = world_lists()
    list_of_user = np.random.default_rng(2).permutation(lists.n_users)
    ledger = Ledger(lists.candidates, TableScorer(lists.candidates))
    measure = Measure(EVERY_METRIC, lists.candidates, lists.side, ledger, list_of_user=list_of_user)
    whole = values_per_list(EVERY_METRIC, lists.candidates, lists.side)
    some = np.array([5, 0, 17])
    np.testing.assert_array_equal(measure(some), whole[:, list_of_user[some]])


def test_only_those_asked_for_are_paid_for():
    lists = world_lists()
    asked: list[int] = []

    class Noted:
        def ask(self, some: IntArray) -> FloatArray:
            asked.extend(some.tolist())
            return TableScorer(lists.candidates).ask(some)

    measure = Measure(EVERY_METRIC, lists.candidates, lists.side, Ledger(lists.candidates, Noted()))
    measure(np.array([4, 2]))
    measure(np.array([2, 9, 4]))
    lengths = np.diff(lists.candidates.offsets)
    assert asked == [one for one in (4, 2, 9) if lengths[one]]


def test_taking_lists_keeps_their_rows():
    candidates = world_lists(n_users=5).candidates
    chosen = np.array([3, 0, 3])
    scores = TableScorer(candidates).ask(chosen)
    taken = candidates.take(chosen, scores)
    assert taken.n_users == 3
    assert candidates.labels is not None
    assert taken.labels is not None
    for at, one in enumerate(chosen):
        mine = slice(taken.offsets[at], taken.offsets[at + 1])
        its = slice(candidates.offsets[one], candidates.offsets[one + 1])
        assert taken.items[mine].tolist() == candidates.items[its].tolist()
        assert taken.labels[mine].tolist() == candidates.labels[its].tolist()
        assert taken.scores[mine].tolist() == candidates.scores[its].tolist()
    assert taken.items.dtype == candidates.items.dtype
    assert taken.offsets.dtype == np.int64
    assert taken.item_ids is candidates.item_ids


def test_taking_lists_without_labels_gives_none():
    lists = world_lists(n_users=5).candidates
    bare = type(lists)(lists.offsets, lists.items, lists.scores, None, lists.item_ids)
    assert bare.take(np.array([1]), np.zeros(0)).labels is None


def test_side_data_of_some_lists_has_their_histories():
    categories = Categories(np.array([0, 1]), np.array([0], dtype=np.int32))
    popularity = Popularity(np.array([100.0]), np.array([1.0, 2.0, np.nan]), 1.0, np.array([True]))
    side = SideData(categories, popularity, ("a warning",)).for_lists(np.array([2, 0, 0]))
    assert side.categories is categories
    assert side.notes == ("a warning",)
    assert side.popularity is not None
    assert side.popularity.per_item is popularity.per_item
    np.testing.assert_array_equal(side.popularity.history_per_user, [np.nan, 1.0, 1.0])
    assert SideData().for_lists(np.array([0])) == SideData()


def test_no_metrics_give_no_rows():
    lists = world_lists(n_users=5)
    assert values_per_list([], lists.candidates, lists.side).shape == (0, 5)
