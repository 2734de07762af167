"""Popularity times the share of the history in the item's categories, by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from fairrec_paper.models import data as taste
from fairrec_paper.models.data import Taste, taste_predictions, training_data
from tests.fairrec_paper.models.small_bundle import small_bundle

WORLD = SimpleNamespace(
    users=pl.DataFrame({"user_id": ["u", "v"]}),
    items=pl.DataFrame(
        {"item_id": [1, 2, 3], "categories": [["drama"], ["drama", "crime"], ["comedy"]]}
    ),
)
HISTORY = pl.DataFrame({"user_id": ["u", "u", "v"], "item_id": [1, 2, 1]})


def test_scores_are_popularity_times_the_share_of_the_taste(monkeypatch):
    users, items = np.repeat([0, 1], 3), np.tile([0, 1, 2], 2)
    # u chose drama and half of drama and crime: 3/4 drama, 1/4 crime
    u = [np.log(3) * (0.05 + 3 / 4), np.log(2) * (0.05 + (3 / 4 + 1 / 4) / 2), 0.0]
    v = [np.log(3) * (0.05 + 1), np.log(2) * (0.05 + 1 / 2), 0.0]
    model = Taste(WORLD, HISTORY)
    assert model.score(users, items) == pytest.approx([*u, *v])
    monkeypatch.setattr(taste, "CHUNK", 4)
    assert model.score(users, items) == pytest.approx([*u, *v])


def test_predictions_are_the_test_candidates_with_scores():
    bundle = small_bundle()
    data = training_data(bundle)
    table = taste_predictions(bundle, data)
    assert table.columns == ["user_id", "item_id", "score", "label"]
    assert table.drop("score").equals(data.test.table(bundle.users, bundle.items))
    first = table.row(3, named=True)
    items = data.test.items[3].astype(np.int64)
    scores = Taste(bundle, data.history).score(np.full(len(items), data.test.users[3]), items)
    assert first["score"] == scores.tolist()
