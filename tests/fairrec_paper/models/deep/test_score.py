from __future__ import annotations

import pytest
import torch

from fairrec_paper.models.evaluation import score_pairs
from fairrec_paper.models.networks import MODELS
from tests.fairrec_paper.models.deep.small_models import model_of, random_pairs


@pytest.mark.parametrize("name", list(MODELS))
def test_scores_do_not_depend_on_the_chunk_or_on_other_rows(name, monkeypatch):
    model = model_of(name)
    users, items = random_pairs(100)
    whole = score_pairs(model, users, items)
    monkeypatch.setattr("fairrec_paper.models.evaluation.CPU_ROWS", 7)
    assert score_pairs(model, users, items) == pytest.approx(whole, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("name", list(MODELS))
def test_threads_change_no_bit_of_a_score(name, monkeypatch):
    monkeypatch.setattr("fairrec_paper.models.evaluation.CPU_ROWS", 64)
    model = model_of(name)
    users, items = random_pairs(1000)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        by_one = score_pairs(model, users, items)
        torch.set_num_threads(3)
        by_three = score_pairs(model, users, items)
        # whatever torch is used for next has its threads again
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)
    assert by_three.tolist() == by_one.tolist()


def test_each_chunk_is_scored_by_one_thread(monkeypatch):
    monkeypatch.setattr("fairrec_paper.models.evaluation.CPU_ROWS", 64)
    model = model_of("deepfm")
    seen, told = set(), []

    def watched(*_):
        seen.add(torch.get_num_threads())

    model.register_forward_pre_hook(watched)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        score_pairs(model, *random_pairs(200), told.append)
    finally:
        torch.set_num_threads(threads)
    assert seen == {1}
    assert told == [64, 128, 192, 200]
