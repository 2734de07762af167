from __future__ import annotations

import pytest

from fairrec.models.deep.registry import MODELS
from fairrec.models.deep.score import score_pairs
from tests.models.deep.small_models import model_of, random_pairs


@pytest.mark.parametrize("name", list(MODELS))
def test_scores_do_not_depend_on_the_chunk_or_on_other_rows(name, monkeypatch):
    model = model_of(name)
    users, items = random_pairs(100)
    whole = score_pairs(model, users, items)
    monkeypatch.setattr("fairrec.models.deep.score.CPU_ROWS", 7)
    assert score_pairs(model, users, items) == pytest.approx(whole, rel=1e-5, abs=1e-5)
