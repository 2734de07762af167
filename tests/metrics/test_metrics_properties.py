"""What holds for every list, whatever its scores, labels and items."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.arrays import FloatArray
from fairrec.metrics import METRICS, parse_metric
from tests.metrics.metric_lists import (
    Candidate,
    User,
    World,
    asked_for,
    per_user,
    ranked_lists,
    user,
    values_of,
    world_values,
)
from tests.metrics.slow_metrics import SLOW_FROM_LABELS

AT_K = ["ndcg", "mrr", "hit", "recall", "precision", "map", "urd", "urp", "urp_abs"]
AT_K += ["share", "mean", "novelty", "miscalibration"]
N_ITEMS = 15

cutoffs = st.integers(1, 12)


@st.composite
def candidates(draw, min_size: int = 0) -> User:
    """Distinct items, scores with ties and graded labels."""
    items = draw(st.lists(st.integers(0, N_ITEMS - 1), unique=True, min_size=min_size))
    return [
        Candidate(item, float(draw(st.integers(-3, 3))), float(draw(st.sampled_from([0, 0, 1, 3]))))
        for item in items
    ]


@st.composite
def worlds(draw) -> World:
    # the first user keeps the tables from being empty
    users = [user([1, 0]), *draw(st.lists(candidates(), max_size=6))]
    category_sets = st.frozensets(st.sampled_from("abcd"), max_size=3)
    categories = draw(st.dictionaries(st.integers(0, N_ITEMS - 1), category_sets, min_size=1))
    interactions = st.tuples(st.integers(0, 8), st.integers(0, N_ITEMS - 1))
    return World(users, categories, [(0, 0), *draw(st.lists(interactions, max_size=30))])


def all_values(world: World, k: int) -> dict[str, FloatArray]:
    """The values of every metric, from ranked lists they share."""
    lists = ranked_lists(world.users, world.categories, world.history, max_k=k)
    names = ["auc", *(asked_for(name, k) for name in AT_K)]
    return {name: per_user(parse_metric(name), lists) for name in names}


def with_scores(world: World, change: Callable[[float], float]) -> World:
    users = [[c._replace(score=float(change(c.score))) for c in one] for one in world.users]
    return World(users, world.categories, world.history)


@given(world=worlds(), k=cutoffs, data=st.data())
def test_the_order_of_users_is_irrelevant(world, k, data):
    order = data.draw(st.permutations(range(len(world.users))))
    new_position = {old: new for new, old in enumerate(order)}
    shuffled = World(
        [world.users[old] for old in order],
        world.categories,
        [(new_position.get(owner, owner + 100), item) for owner, item in world.history],
    )
    before, after = all_values(world, k), all_values(shuffled, k)
    for name, values in before.items():
        np.testing.assert_array_equal(after[name], values[list(order)], err_msg=name)


@pytest.mark.parametrize("k", [5, 10, 20])
def test_users_with_the_same_list_have_the_same_ndcg_to_the_last_bit(k):
    rng = np.random.default_rng(3)
    for n_users in (2, 11, 50):
        one = user(0.3 * rng.integers(0, 4, 30), rng.random(30))
        values = values_of(f"ndcg@{k}", [one] * n_users)
        assert len(np.unique(values)) == 1


@given(world=worlds(), k=cutoffs)
def test_values_stay_within_their_bounds(world, k):
    for name, values in all_values(world, k).items():
        low, high = METRICS[name.partition("@")[0]].bounds or (-100, 100)
        defined = values[~np.isnan(values)]
        assert (defined >= low).all(), name
        assert (defined <= high).all(), name


INCREASING = {
    "constant": lambda x: x + 1000,
    "scale": lambda x: 0.25 * x - 7,
    "exp": np.exp,
    "arctan": np.arctan,
    "cubic": lambda x: x**3 + x,
}


@given(world=worlds(), k=cutoffs)
def test_an_increasing_change_of_the_scores_changes_nothing(world, k):
    before = all_values(world, k)
    for way, change in INCREASING.items():
        after = all_values(with_scores(world, change), k)
        for name, values in before.items():
            np.testing.assert_array_equal(after[name], values, err_msg=f"{name}, {way}")


@given(world=worlds(), k=cutoffs, data=st.data())
def test_other_item_ids_change_nothing(world, k, data):
    new_id = data.draw(st.permutations(range(100, 100 + N_ITEMS)))
    relabelled = World(
        [[c._replace(item=new_id[c.item]) for c in one] for one in world.users],
        {new_id[item]: names for item, names in world.categories.items()},
        [(owner, new_id[item]) for owner, item in world.history],
    )
    before, after = all_values(world, k), all_values(relabelled, k)
    is_tied = any(len({c.score for c in one}) < len(one) for one in world.users)
    for name, values in before.items():
        if name.startswith("mean"):
            continue  # what an item costs here follows from its id
        if is_tied and name.partition("@")[0] not in SLOW_FROM_LABELS:
            continue  # the order of equal scores follows from their ids
        np.testing.assert_allclose(after[name], values, rtol=0, atol=1e-12, err_msg=name)


@given(world=worlds())
def test_auc_of_negated_scores_is_one_minus_auc(world):
    straight = world_values("auc", world)
    negated = world_values("auc", with_scores(world, lambda score: -score))
    np.testing.assert_allclose(negated, 1 - straight, rtol=0, atol=1e-12, equal_nan=True)


@given(world=worlds())
def test_auc_does_not_depend_on_the_order_of_the_rows(world):
    reversed_rows = [one[::-1] for one in world.users]
    np.testing.assert_array_equal(values_of("auc", reversed_rows), world_values("auc", world))


@given(one=candidates(min_size=1), k=cutoffs)
def test_ndcg_and_map_of_the_best_order_are_one(one, k):
    ideal = [c._replace(score=c.label) for c in one]
    expected = [1.0] if any(c.label > 0 for c in one) else [np.nan]
    np.testing.assert_array_equal(values_of(f"ndcg@{k}", [ideal]), expected)
    np.testing.assert_allclose(values_of(f"map@{k}", [ideal]), expected, rtol=0, atol=1e-12)


@given(world=worlds(), k=cutoffs)
def test_metrics_bound_each_other(world, k):
    value = {name.partition("@")[0]: values for name, values in all_values(world, k).items()}
    defined = ~np.isnan(value["hit"])
    hit, mrr, recall, precision, ap, ndcg = (
        value[name][defined] for name in ("hit", "mrr", "recall", "precision", "map", "ndcg")
    )
    for other in (mrr, recall, precision, ap, ndcg):
        assert (other <= hit + 1e-12).all()
        # each is 0 exactly where nothing was hit
        np.testing.assert_array_equal(other > 0, hit > 0)
    assert (mrr >= hit / k - 1e-12).all()
    n_relevant = ranked_lists(world.users).n_relevant[defined]
    np.testing.assert_allclose(precision * k, recall * n_relevant, rtol=0, atol=1e-12)
    assert (ap <= precision * k / np.minimum(n_relevant, k) + 1e-12).all()
    np.testing.assert_array_equal(np.abs(value["urp"]), value["urp_abs"])


@given(world=worlds(), k=cutoffs)
def test_looking_deeper_never_finds_less(world, k):
    lists = ranked_lists(world.users, max_k=k + 1)
    for name in ("hit", "mrr", "recall"):
        near, far = (per_user(parse_metric(f"{name}@{at}"), lists) for at in (k, k + 1))
        np.testing.assert_array_equal(np.isnan(near), np.isnan(far))
        assert (far >= near - 1e-12)[~np.isnan(near)].all(), name


@given(scores=st.lists(st.integers(0, 3), min_size=1, max_size=12), k=cutoffs, data=st.data())
def test_with_a_single_target_map_is_mrr_and_recall_is_hit(scores, k, data):
    target = data.draw(st.integers(0, len(scores) - 1))
    one = [user([place == target for place in range(len(scores))], scores)]
    for name, other in (("map", "mrr"), ("recall", "hit")):
        values, same = (values_of(f"{metric}@{k}", one) for metric in (name, other))
        np.testing.assert_allclose(values, same, rtol=0, atol=1e-12)


@given(one=candidates(min_size=2))
def test_auc_of_equal_scores_is_a_half(one):
    tied = [one[0]._replace(score=1.0, label=1.0), one[1]._replace(score=1.0, label=0.0)]
    tied += [c._replace(score=1.0) for c in one[2:]]
    assert values_of("auc", [tied]).tolist() == [0.5]
