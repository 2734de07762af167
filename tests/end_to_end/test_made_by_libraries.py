"""What libraries write is read as they mean it, without a word about its columns."""

from __future__ import annotations

import csv

import polars as pl
import pytest

import fairrec
from tests.inputs.made_by.world import HERE, TEST, USERS
from tests.metrics.oracles.definitions import DEFINITIONS

METRICS = ("recall@10", "ndcg@5", "mrr@10", "map@5")
ALS = "implicit/als.csv"
WITH_TEST = [
    ("rectools/item_knn.parquet", "rectools/test.parquet"),
    ("rectools/item_knn_with_index.csv", "rectools/test.parquet"),
    ("rectools/popular.csv", "rectools/test.parquet"),
    ("lenskit/to_df.csv", "world/test.csv"),
    ("lenskit/flat.parquet", "world/test.csv"),
    ("lenskit/native.parquet", "lenskit/test_native.parquet"),
    (ALS, "world/test.csv"),
    ("implicit/item_knn_short.csv", "world/test.csv"),
    ("implicit/als_more_than_there_are.csv", "world/test.csv"),
    ("recbole/full_sort_topk.csv", "world/test.csv"),
    ("recbole/full_sort_topk.csv", "recbole/test.inter"),
    ("recommenders/sar.csv", "recommenders/test.csv"),
    ("recommenders/sar.parquet", "world/test.csv"),
]


def lists_in(file: str) -> dict[int, list[int]]:
    """The lists of each user: every library writes them in the order of their places."""
    path = HERE / file
    frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
    if "items" in frame.columns:
        frame = frame.explode("items").unnest("items")
    frame = frame.rename({"userID": "user_id", "itemID": "item_id"}, strict=False)
    if "score" in frame.columns:
        # by which implicit fills lists that are too short
        frame = frame.filter(pl.col("score") > -3.4e38)
    lists: dict[int, list[int]] = {}
    for user, item in frame.select("user_id", "item_id").iter_rows():
        lists.setdefault(user, []).append(item)
    return lists


def held_out() -> dict[int, dict[int, float]]:
    found: dict[int, dict[int, float]] = {}
    with TEST.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            found.setdefault(int(row["user_id"]), {})[int(row["item_id"])] = float(row["rating"])
    return found


def values(recommendations: object, test: object) -> dict[str, dict[int, float]]:
    """The values of each user with held-out items, by metric."""
    result = fairrec.audit(
        recommendations,
        test=test,
        tables=fairrec.Tables(gain="rating"),
        users=USERS,
        by="gender",
        metrics=METRICS,
        statistics=fairrec.Statistics(permutations=0),
    )
    users = [int(user) for user in result.per_user["user_id"]]
    return {
        name: {
            user: value
            for user, value in zip(users, result.per_user[name], strict=True)
            if value is not None
        }
        for name in METRICS
    }


@pytest.mark.parametrize(("file", "test"), WITH_TEST)
def test_values_are_those_of_the_lists_as_written(file, test):
    found = values(HERE / file, HERE / test)
    lists = lists_in(file)
    for name in METRICS:
        metric, _, k = name.partition("@")
        expected = {
            user: DEFINITIONS[metric](lists.get(user, []), items, int(k))
            for user, items in held_out().items()
        }
        assert found[name] == pytest.approx(expected, abs=1e-12)


def test_ranks_tell_equal_scores_apart_in_whatever_order_rows_come():
    recommendations = pl.read_csv(HERE / "rectools" / "popular.csv")
    assert recommendations.select("user_id", "score").is_duplicated().any()
    shuffled = recommendations.sample(fraction=1, shuffle=True, seed=3)
    assert values(shuffled, TEST) == values(recommendations, TEST)


def test_equal_ranks_leave_the_order_to_the_scores():
    recommendations = pl.read_csv(HERE / ALS)
    with_equal_ranks = recommendations.with_columns(rank=1)
    shuffled = with_equal_ranks.sample(fraction=1, shuffle=True, seed=3)
    assert values(shuffled, TEST) == values(recommendations, TEST)
