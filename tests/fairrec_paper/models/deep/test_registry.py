"""What every registered model must do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fairrec_paper.models.networks import MODELS
from fairrec_paper.models.run import build_model
from tests.fairrec_paper.models.deep.small_models import model_of, random_pairs, tables


@pytest.mark.parametrize("name", list(MODELS))
def test_gradients_reach_every_parameter(name):
    model = model_of(name)
    users, items = np.repeat(np.arange(150), 80), np.tile(np.arange(80), 150)
    model(torch.from_numpy(users), torch.from_numpy(items)).square().mean().backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.abs().sum() > 0, parameter_name


@pytest.mark.parametrize("name", list(MODELS))
def test_a_model_learns_200_rows_by_heart(name):
    torch.manual_seed(1)
    model = build_model(name, {"embedding": 8, "layers": (64, 32)}, tables())
    users, items = (torch.from_numpy(column) for column in random_pairs(200, seed=1))
    labels = torch.from_numpy(np.random.default_rng(2).integers(0, 2, 200)).float()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(300):
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(users, items), labels)
        loss.backward()
        optimizer.step()
        if loss.item() < 0.05:
            break
    # a pair may come twice with two labels, so not quite 0
    assert loss.item() < 0.05
