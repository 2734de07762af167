"""A re-ranker from a file, applied to new candidate lists."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import FairRecError, InputError
from fairrec.mitigation.remedy import RerankerRecord, load_reranker
from fairrec.mitigation.reranker import RERANKERS
from fairrec.mitigation.rerankers import swap
from tests.builders import with_text_ids
from tests.mitigation.planted import WORSE, Planted, mitigate, planted

LABEL_FREE = [name for name in RERANKERS if not RERANKERS[name].is_upper_bound]
WORLD = planted("diversity", n_users=96)


def rerank(world: Planted, record, predictions=None, **options) -> pl.DataFrame:
    given = {"users": world.users, "items": world.items, "history": world.history, "threads": 1}
    chosen = world.predictions if predictions is None else predictions
    return fairrec.rerank(record, chosen, **{**given, **options})


@pytest.mark.parametrize("reranker", LABEL_FREE)
@pytest.mark.parametrize("protocol", ["validation", "halves"])
def test_the_same_lists_come_out_as_the_mitigation_wrote_them(reranker, protocol, monkeypatch):
    # the exact programme at every strength takes its time
    monkeypatch.setattr(swap, "MOST_EXACT", 0)
    validation = WORLD.validation if protocol == "validation" else None
    result = mitigate(
        WORLD, "urd@5", reranker=reranker, strength=0.6, groups="worst:2", validation=validation
    )
    found = rerank(WORLD, result.reranker)
    assert found.drop("model_score").equals(result.predictions)
    assert found["model_score"].equals(WORLD.predictions["score"].alias("model_score"))
    assert (found["score"] != found["model_score"]).any()


def test_record_travels_through_its_file(tmp_path):
    result = mitigate(WORLD, "urd@5", by="gender,age", strength=0.6)
    folder = result.save(tmp_path / "fixed", report=False)
    assert load_reranker(folder / "reranker.json") == result.reranker
    found = rerank(WORLD, str(folder / "reranker.json"))
    assert found.drop("model_score").equals(result.predictions)


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


def test_labels_are_handed_through_and_not_looked_at():
    record = mitigate(WORLD, "ndcg@5", strength=0.6).reranker
    labels = pl.Series("label", np.random.default_rng(0).integers(0, 5, len(WORLD.predictions)))
    poisoned = rerank(WORLD, record, WORLD.predictions.with_columns(labels))
    bare = rerank(WORLD, record, WORLD.predictions.drop("label"))
    assert poisoned["label"].to_list() == labels.to_list()
    assert "label" not in bare.columns
    assert bare["score"].equals(poisoned["score"])


@pytest.mark.parametrize(
    "reranker", ["mmr", "calibrated", "popularity_calibrated", "second_opinion"]
)
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


def test_threads_change_nothing():
    record = mitigate(WORLD, "urd@5", strength=0.6).reranker
    assert rerank(WORLD, record, threads=3).equals(rerank(WORLD, record))


# what is refused


def record_text(**changes) -> str:
    record = mitigate(WORLD, "urd@5", strength=0.6).reranker
    return json.dumps({**json.loads(record.model_dump_json()), **changes})


def record_of(**changes) -> RerankerRecord:
    return RerankerRecord.model_validate_json(record_text(**changes))


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        (
            {"reranker": "oracle"},
            {},
            "'oracle' sees the labels, so it is an upper bound and no rem",
        ),
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
        rerank(WORLD, record_of(**changes), **options)


def test_quantiles_that_other_users_do_not_have_are_refused():
    users = WORLD.users.with_columns(income=pl.col("user_id") * 10)
    world = WORLD._replace(users=users)
    record = mitigate(world, "urd@5", by="income:q3", strength=0.6).reranker
    assert rerank(world, record).height == WORLD.predictions.height
    few = WORLD.predictions.filter(pl.col("user_id") < 50)
    with pytest.raises(InputError, match=r"Attribute 'income' falls into other quantiles for thes"):
        rerank(world, record, few)


def test_nobody_of_the_groups_among_some_lists_is_fine_where_others_are():
    record = record_of(groups=[WORSE, {"gender": "X"}])
    assert rerank(WORLD, record).height == WORLD.predictions.height
