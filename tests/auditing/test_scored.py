from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.auditing import audit, count
from fairrec.auditing.search import as_model, with_scores_of
from fairrec.core.errors import InputError
from fairrec.inputs.parts.partition import open_parts
from fairrec.metrics.reading import read_inputs
from fairrec.scoring.model import FunctionModel
from tests.counts.small_counts import BY, tables


def score(users, items):
    """Some order, other for each user."""
    return np.sin(7.0 * users + 3.0 * items)


@pytest.fixture
def candidates(tmp_path):
    given = tables()
    given["predictions"].drop("score").write_parquet(tmp_path / "candidates.parquet")
    given["users"].write_parquet(tmp_path / "users.parquet")
    return {
        "predictions": str(tmp_path / "candidates.parquet"),
        "users": str(tmp_path / "users.parquet"),
        "by": BY,
        "metrics": "auc,mrr@8",
    }


def test_all_candidates_have_the_scores_of_the_model(candidates):
    inputs, _ = read_inputs(**candidates, has_scores=False)
    found = with_scores_of(FunctionModel(score, rows_per_call=100), inputs, inputs.tables)
    lengths = np.diff(inputs.candidates.offsets)
    users = np.repeat(inputs.ids_of_lists.to_numpy(), lengths)
    items = inputs.candidates.item_ids.to_numpy()[inputs.candidates.items]
    assert found.candidates.scores == pytest.approx(score(users, items))


def test_a_function_is_a_model():
    assert as_model(None) is None
    model = FunctionModel(score)
    assert as_model(model) is model
    assert isinstance(as_model(score), FunctionModel)


def test_parts_are_scored_as_the_whole(candidates, monkeypatch):
    whole = fairrec.audit(**candidates, scorer=score, permutations=50)
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=900))
    monkeypatch.setattr(audit, "is_large", lambda *_: True)
    found = fairrec.audit(**candidates, scorer=score, permutations=50)
    for name, about in whole.metrics.items():
        assert found.metrics[name].mean == pytest.approx(about.mean, rel=1e-12)
        assert found.metrics[name].gap == pytest.approx(about.gap)
    assert found.per_user_parts.collect().height == whole.per_user.height
    # a search is not of everyone, and stays as it is
    some = fairrec.audit(
        **candidates, scorer=score, search=fairrec.SearchOptions("adaptive", budget_users=300)
    )
    assert some.summary.search.users_scored == 300
    assert isinstance(found.per_user_parts, pl.LazyFrame)


def test_workers_have_nothing_to_do_in_a_search(candidates):
    with pytest.raises(InputError, match="A search scores few users"):
        fairrec.audit(**candidates, scorer=score, search="adaptive", engine="ray")


def test_an_endpoint_is_not_asked_by_workers(candidates):
    endpoint = fairrec.Endpoint("http://127.0.0.1:9/v2/models/ranker")
    with pytest.raises(InputError, match="asked by one process"):
        fairrec.audit(**candidates, scorer=endpoint, engine="ray")
