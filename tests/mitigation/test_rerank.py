"""A saved re-ranker on new lists, and which re-ranker is made for which metric."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import FairRecError
from fairrec.mitigation.reranker import RERANKERS
from fairrec.mitigation.result import RerankerRecord
from tests.builders import with_text_ids
from tests.metrics.metric_lists import Candidate, World
from tests.mitigation.planted import WORSE, Planted, mitigate, planted
from tests.mitigation.rerank_world import RerankWorld

WORLD = planted("diversity", n_users=96)


def rerank(world: Planted, record, predictions=None, **options) -> pl.DataFrame:
    given = {"users": world.users, "items": world.items, "history": world.history, "threads": 1}
    chosen = world.predictions if predictions is None else predictions
    return fairrec.rerank(record, chosen, **{**given, **options})


@pytest.mark.parametrize("reranker", [*RERANKERS])
def test_the_same_lists_come_out_as_the_mitigation_wrote_them(reranker):
    halves = {"validation": None, "groups": "worst:2"}
    result = mitigate(WORLD, "urd@5", reranker=reranker, strength=0.6, **halves)
    found = rerank(WORLD, result.reranker)
    assert found.drop("model_score").equals(result.predictions)
    assert found["model_score"].equals(WORLD.predictions["score"].alias("model_score"))
    assert (found["score"] != found["model_score"]).any()


@pytest.mark.parametrize("text_ids", [True, False], ids=["text ids", "whole numbers"])
def test_new_lists_are_re_ranked_in_the_same_way(text_ids):
    world = Planted(*map(with_text_ids, WORLD)) if text_ids else WORLD
    record = mitigate(world, "urd@5", strength=0.6).reranker
    found = rerank(world, record, world.validation)
    assert found.columns == ["user_id", "item_id", "score", "label", "model_score"]
    for name in ("user_id", "item_id", "label"):
        assert found[name].to_list() == world.validation[name].to_list()
    is_changed = found["score"] != found["model_score"]
    changed = set(found.filter(is_changed)["user_id"])
    assert changed and changed <= set(world.users.filter(**WORSE)["user_id"])
    for _, part in found.group_by("user_id"):
        assert sorted(part["score"]) == sorted(part["model_score"])


@pytest.mark.parametrize("reranker", ["mmr", "popularity_calibrated", "second_opinion"])
def test_some_users_get_the_lists_they_would_get_among_all(reranker):
    record = mitigate(WORLD, "urd@5", reranker=reranker, strength=0.6).reranker
    whole = rerank(WORLD, record)
    few = WORLD.predictions.filter(pl.col("user_id") < 20)
    assert rerank(WORLD, record, few).equals(whole.filter(pl.col("user_id") < 20))


def test_users_and_items_that_are_new_are_no_error():
    record = mitigate(WORLD, "ndcg@5", strength=0.6).reranker
    someone = pl.DataFrame({"user_id": [900], **{name: [value] for name, value in WORSE.items()}})
    users = pl.concat([WORLD.users, someone])
    new = pl.DataFrame(
        {"user_id": [900, 900, 0, 0], "item_id": [1, 999, 2, 998], "score": [0.1, 0.2, 0.3, 0.4]}
    )
    found = rerank(WORLD._replace(users=users), record, new)
    # nothing is known of the new user, so the model has the only say
    assert found.filter(user_id=900)["score"].to_list() == [0.1, 0.2]
    assert sorted(found.filter(user_id=0)["score"]) == [0.3, 0.4]


def record_with(**changes) -> RerankerRecord:
    record = mitigate(WORLD, "urd@5", strength=0.6).reranker
    return RerankerRecord.model_validate({**record.model_dump(), **changes})


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"reranker": "mrm"}, {}, "No re-ranker 'mrm'. Did you mean 'mmr'"),
        ({"by": ["gender", "town"]}, {}, "No attribute 'town'"),
        ({"groups": [{"town": "X"}]}, {}, "No attribute 'town'"),
        ({"groups": [{"gender": "X"}]}, {}, "no user is in the group gender=X"),
        ({}, {"items": None}, "'mmr' needs the items table. Give it as items"),
        ({"reranker": "swap"}, {"history": None}, "'swap' needs the history table"),
        ({}, {"users": WORLD.users.drop("age")}, "No attribute 'age'"),
        ({}, {"users": None}, "The users table is missing"),
    ],
    ids=str,
)
def test_record_that_cannot_be_applied_is_refused(changes, options, message):
    with pytest.raises(FairRecError, match=message):
        rerank(WORLD, record_with(**changes), **options)


def test_scores_in_a_new_order_give_way_by_a_hair_where_they_were_equal():
    one = [Candidate(item, score, 0.0) for item, score in enumerate([2.0, 1.0, 1.0, 1.0, 0.5])]
    world = RerankWorld(World([one], {0: frozenset("a")}, [(0, 0)]))
    scores = world.lists.scores_in(np.array([3, 0, 2, 1, 4]))
    hair = np.nextafter(1.0, 0.0)
    assert scores.tolist() == [1.0, np.nextafter(hair, 0.0), hair, 2.0, 0.5]
