"""What is taken up after a kill is what was written."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from fairrec.core.errors import InputError
from fairrec_paper.models.training import TrainingState, state_files
from tests.fairrec_paper.models.deep.small_models import model_of


def state_of(folder) -> TrainingState:
    model = model_of("deepfm")
    return TrainingState(model, torch.optim.Adam(model.parameters()), folder)


def step(state: TrainingState) -> None:
    """One step of training."""
    state.optimizer.zero_grad()
    state.model(torch.arange(5), torch.arange(5)).sum().backward()
    state.optimizer.step()


def same(one: dict[str, Tensor], two: dict[str, Tensor]) -> bool:
    assert one.keys() == two.keys()
    return all(torch.equal(one[name], two[name]) for name in one)


def test_weights_best_weights_and_the_optimiser_come_back(tmp_path):
    state = state_of(tmp_path)
    state.keep_best()
    step(state)
    state.save(1)
    other = state_of(tmp_path)
    other.load(1)
    assert same(state.best, other.best)
    assert not same(state.best, state.model.state_dict())
    # the same step from here needs the same weights and the same means
    step(state)
    step(other)
    assert same(state.model.state_dict(), other.model.state_dict())


def test_older_states_are_forgotten(tmp_path):
    state = state_of(tmp_path)
    for epoch in (1, 2, 10):
        state.save(epoch)
    state.forget_before(10)
    assert state_files(tmp_path) == [state.file(10)]


def test_a_damaged_state_says_how_to_begin_anew(tmp_path):
    state = state_of(tmp_path)
    state.save(1)
    state.file(1).write_bytes(state.file(1).read_bytes()[:100])
    with pytest.raises(InputError, match=r"cannot be taken up .* Begin anew with restart=True"):
        state.load(1)
