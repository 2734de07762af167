"""What every registered re-ranker must do, whatever it is made for.

A re-ranker that is registered when the tests are collected is tested here without being named.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.groups.group import Group, group_of_users
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics.reading import read_inputs
from fairrec.mitigation import reranker as rerank_lists
from fairrec.mitigation.reranker import RERANKERS, FittedReranker
from tests.builders import Tables, make_tables
from tests.metrics.metric_lists import World, random_world, user
from tests.mitigation.rerank_world import RerankWorld

ALL = list(RERANKERS)
STRENGTHS = (0.05, 0.5, 1.0)
every_reranker = pytest.mark.parametrize("name", ALL)

CATEGORIES = {item: frozenset("ab"[item % 2 :]) for item in range(20)}
HISTORY = [(0, 0), (0, 1), (1, 1), (2, 2), (3, 3), (4, 0)]
MANY = [
    user([1, 0] * 6),
    user([0, 1]),
    [],
    user([1]),
    user([0, 0, 1], [0.2, 0.2, 0.1]),
]


def world_of(users, categories=CATEGORIES, history=HISTORY) -> World:
    return World(users, categories, history)


SITUATIONS = {
    "one user": world_of([user([0, 1, 0])]),
    "one candidate": world_of([user([1])]),
    "ties everywhere": world_of([user([0, 1, 0, 2], [1, 1, 1, 1]), user([1, 0], [0, 0])]),
    "an empty list among others": world_of([[], user([0, 1]), []]),
    "an empty list at the end": world_of([user([0, 1, 0, 0]), []]),
    "lists of different lengths": world_of(MANY),
    "lists shorter than k": world_of([user([0, 1]), user([1])]),
    "only one has a history": world_of(MANY, history=[(1, 0), (91, 1)]),
    "items nobody had": world_of(MANY, history=[(owner, 90) for owner in range(5)]),
    "no item has categories": world_of(MANY, categories={0: frozenset()}),
    "items are not in the table of items": world_of(MANY, categories={90: frozenset("a")}),
    "only one item": world_of([user([0]), user([1])], history=[(0, 0)]),
    "negative and huge scores": world_of([user([0, 1, 0, 1], [-1e300, 1e300, -5.0, 0.0])]),
    "random": random_world(np.random.default_rng(3), n_users=40),
    "random without ties": random_world(np.random.default_rng(4), n_users=40, has_ties=False),
}


@cache
def lists_in(situation: str) -> RerankWorld:
    return RerankWorld(SITUATIONS[situation], k=3)


@every_reranker
def test_order_is_a_permutation_within_each_list_and_new_scores_rank_in_it(name):
    for situation in SITUATIONS:
        world = lists_in(situation)
        for strength in STRENGTHS:
            order = world.order(name, strength)
            assert order.dtype == np.int64, situation
            shown = world.ranked_after(order).items(50)
            for one in range(world.lists.n_lists):
                part = world.part(order, one)
                assert sorted(part) == world.rows(one), situation
                ranked = shown[one][shown[one] >= 0].tolist()
                assert ranked == world.lists.items[part].tolist(), situation


@every_reranker
def test_candidates_that_differ_in_nothing_keep_their_order(name):
    alike = [user([1] * 6, [0.5] * 6) for _ in range(3)]
    same_kind = dict.fromkeys(range(20), frozenset("ab"))
    # everyone had every item, and one more that nobody is offered
    history = [(owner, item) for owner in range(3) for item in [*range(6), 9, *[9] * owner]]
    world = RerankWorld(World(alike, same_kind, history), k=4)
    for strength in STRENGTHS:
        np.testing.assert_array_equal(world.order(name, strength), world.lists.by_score)


@every_reranker
def test_threads_change_nothing(name, monkeypatch):
    # so few lists would get no threads of their own
    monkeypatch.setattr(rerank_lists, "FEW_LISTS", 1)
    drawn = random_world(np.random.default_rng(5), n_users=101)
    one, three = (RerankWorld(drawn, threads=n) for n in (1, 3))
    for strength in STRENGTHS:
        expected = one.order(name, strength)
        np.testing.assert_array_equal(three.order(name, strength), expected)
        np.testing.assert_array_equal(
            three.lists.scores_in(expected), one.lists.scores_in(expected)
        )


@every_reranker
def test_reranker_gives_the_same_again_and_leaves_its_input_as_it_is(name):
    world = RerankWorld(SITUATIONS["random"])
    before = {part: array.copy() for part, array in arrays_in(world).items()}
    orders = world.build(name).orders(world.lists)
    # a stronger one in between must leave no trace
    first = orders(0.5).copy()
    orders(1.0)
    np.testing.assert_array_equal(orders(0.5), first)
    after = arrays_in(world)
    assert len(before) > 10
    for part, array in before.items():
        np.testing.assert_array_equal(after[part], array, err_msg=part)


def arrays_in(world: RerankWorld) -> dict[str, np.ndarray]:
    """Every array a re-ranker can reach, by name."""
    found: dict[str, np.ndarray] = {}

    def collect(name: str, part: object) -> None:
        if isinstance(part, np.ndarray):
            found[name] = part
        elif is_dataclass(part):
            for field in fields(part):
                collect(f"{name}.{field.name}", getattr(part, field.name))

    collect("lists", world.lists)
    collect("training", world.training)
    return found


@pytest.mark.parametrize("name", ["popularity_calibrated", "swap", "second_opinion"])
def test_user_without_history_keeps_the_models_order(name):
    world = RerankWorld(SITUATIONS["random without ties"])
    is_new = world.lists.user < 0
    assert is_new.any()
    for strength in STRENGTHS:
        order = world.order(name, strength)
        for one in np.flatnonzero(is_new):
            assert world.part(order, one) == world.part(world.lists.by_score, one), strength


# through tables, as a mitigation goes


def inputs_of(tables: Tables, by: str = "gender") -> AuditInputs:
    inputs, _ = read_inputs(
        tables.predictions,
        users=tables.users,
        by=by,
        items=tables.items,
        history=tables.history,
        metrics="urd@3,urp@3",
        wants=("items", "history"),
    )
    return inputs


WOMEN = Group.of(gender="F")


def scores_at(name: str, strength: float, tables: Tables, threads: int = 1) -> np.ndarray:
    return rescore(name, strength, inputs_of(tables), threads)


def rescore(name: str, strength: float, inputs: AuditInputs, threads: int = 1) -> np.ndarray:
    fitted = FittedReranker(name, 3, 0.0, inputs, threads)
    return fitted.rescore(inputs, group_of_users([WOMEN], inputs.attributes))(strength)


@every_reranker
def test_strength_zero_changes_no_score(name):
    for has_text_ids in (True, False):
        tables = make_tables(text_ids=has_text_ids)
        scores = tables.predictions["score"].to_numpy()
        assert scores_at(name, 0, tables).tobytes() == scores.tobytes(), has_text_ids


@every_reranker
def test_users_outside_the_groups_are_untouched_to_the_last_digit(name):
    tables = make_tables(n_users=60)
    rows = tables.predictions.join(tables.users, on="user_id", how="left", maintain_order="left")
    is_chosen = (rows["gender"] == "F").fill_null(value=False).to_numpy()
    before = rows["score"].to_numpy()
    for strength in STRENGTHS:
        after = scores_at(name, strength, tables)
        assert after[~is_chosen].tobytes() == before[~is_chosen].tobytes(), strength
    assert (after[is_chosen] != before[is_chosen]).any()


@every_reranker
def test_labels_cannot_be_seen(name):
    tables = make_tables(n_users=60)
    predictions = tables.predictions
    drawn = np.random.default_rng(1).integers(0, 9, predictions.height)
    for poison, other in {
        "random": predictions.with_columns(label=pl.Series(drawn)),
        "reversed": predictions.with_columns(label=1 - pl.col("label").clip(0, 1)),
        "absent": predictions.drop("label"),
    }.items():
        inputs = inputs_of(tables), inputs_of(tables._replace(predictions=other))
        for strength in STRENGTHS:
            expected, poisoned = (rescore(name, strength, one) for one in inputs)
            assert poisoned.tobytes() == expected.tobytes(), poison


@every_reranker
def test_missing_table_is_refused_with_a_remedy_where_it_is_needed(name):
    tables = make_tables()
    for need, other in (("items", "history"), ("history", "items")):
        given = {"users": tables.users, other: getattr(tables, other), "metrics": "ndcg@3"}
        wants = ("items", "history")
        inputs, _ = read_inputs(tables.predictions, by="gender", wants=wants, **given)
        if need in RERANKERS[name].needs:
            with pytest.raises(InputError, match=f"'{name}' needs the {need} table. Give it as"):
                FittedReranker(name, 3, 0.0, inputs)
        else:
            assert len(rescore(name, 0.5, inputs)), need
