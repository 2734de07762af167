from __future__ import annotations

import polars as pl
from pytest import approx

from fairrec.metrics.reading import read_inputs
from fairrec.search.evidence import popularity_proxy

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


def test_without_a_history_there_is_no_proxy():
    assert proxy_of() is None
