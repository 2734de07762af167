from __future__ import annotations

import numpy as np
import pytest
import torch

from fairrec.core.errors import FairRecError
from fairrec.models.deep.features import feature_tables
from fairrec.models.deep.registry import MODELS
from fairrec.models.deep.score import score_pairs
from fairrec.models.runs.checkpoint import build_model
from tests.models.deep.slow_models import SLOW_MODELS, weights
from tests.models.small_bundle import small_bundle

SMALL = {"embedding": 4, "layers": (12, 6)}


def tables(with_categories=True):
    bundle = small_bundle()
    items = bundle.items if with_categories else bundle.items.drop("categories")
    return feature_tables(bundle.users, items, bundle.manifest.attributes)


def model_of(name, with_categories=True, **hyper):
    torch.manual_seed(0)
    model = build_model(name, {**SMALL, **hyper}, tables(with_categories))
    # weights of a size at which every part of the model matters
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model


def random_pairs(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 150, n), rng.integers(0, 80, n)


@pytest.mark.parametrize("with_categories", [True, False])
@pytest.mark.parametrize("name", list(MODELS))
def test_the_forward_pass_equals_plain_numpy(name, with_categories):
    model = model_of(name, with_categories)
    if with_categories:
        with torch.no_grad():
            for part in model.modules():
                if getattr(part, "categories", None) is not None:
                    part.categories.weight[0] = 0
    users, items = random_pairs(30)
    w = weights(model)
    slow = [SLOW_MODELS[name](w, model.hyper, u, i) for u, i in zip(users, items, strict=True)]
    assert score_pairs(model, users, items) == pytest.approx(slow, rel=1e-4, abs=1e-4)


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
    # a pair may come twice with two labels, so not quite 0
    assert loss.item() < 0.05


@pytest.mark.parametrize("name", list(MODELS))
def test_scores_do_not_depend_on_the_chunk_or_on_other_rows(name, monkeypatch):
    model = model_of(name)
    users, items = random_pairs(100)
    whole = score_pairs(model, users, items)
    monkeypatch.setattr("fairrec.models.deep.score.CPU_ROWS", 7)
    assert score_pairs(model, users, items) == pytest.approx(whole, rel=1e-5, abs=1e-5)


def test_categories_are_one_mean_embedding_and_none_is_zero():
    model = model_of("wide_deep")
    fields = model.fields
    with torch.no_grad():
        fields.categories.weight[0] = 0
    codes = fields.item_categories[3]
    expected = fields.categories.weight[codes[codes > 0].long()].mean(dim=0)
    shown = fields(torch.tensor([0]), torch.tensor([3]))[0, -1]
    assert torch.allclose(shown, expected)


def test_missing_attributes_have_a_code_of_their_own():
    bundle = small_bundle()
    users = bundle.users.with_columns(gender=bundle.users["gender"].replace("F", None))
    codes = feature_tables(users, bundle.items, ["gender"]).user_codes[:, 1]
    assert (codes == 0).sum() == (bundle.users["gender"] == "F").sum()


@pytest.mark.parametrize(
    ("name", "hyper"),
    [
        ("dcn", {"embedding": 0}),
        ("dcn", {"embedding": 8.5}),
        ("dcn", {"dropout": 2.0}),
        ("dcn", {"layers": 0}),
        ("dcn", {"cross_layers": 0}),
        ("fgcnn", {"width": 2}),
        ("fgcnn", {"filters": 8}),
    ],
)
def test_invalid_hyper_parameters_are_refused(name, hyper):
    with pytest.raises(FairRecError, match=r"invalid hyper-parameter.*: expected .*, got "):
        build_model(name, hyper, tables())


def test_one_layer_may_be_given_as_a_number():
    assert build_model("dcn", {"layers": 12}, tables()).hyper.layers == (12,)


def test_unknown_models_and_hyper_parameters_are_refused():
    with pytest.raises(FairRecError, match="Did you mean 'deepfm'"):
        build_model("deepmf", {}, tables())
    with pytest.raises(FairRecError, match="no hyper-parameter 'depth'"):
        build_model("dcn", {"depth": 3}, tables())
