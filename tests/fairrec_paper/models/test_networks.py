"""The deep models: what each computes, that it learns, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from fairrec.core.errors import FairRecError
from fairrec_paper.models.networks import MODELS, score_pairs
from fairrec_paper.models.options import DEEP_MODELS
from fairrec_paper.models.run import build_model
from tests.fairrec_paper.models.slow_models import check_forward_pass
from tests.fairrec_paper.models.small_models import model_of, random_pairs, tables


@pytest.mark.parametrize("with_categories", [True, False])
@pytest.mark.parametrize(
    ("name", "hyper"),
    [
        *((name, {}) for name in DEEP_MODELS),
        ("dcn", {"linear": 1}),
        # convolutions of even width look further ahead than back
        ("fgcnn", {"width": 4}),
        ("fgcnn", {"width": (5, 4), "linear": 1}),
        # the reference leaves out fields that fill no pool
        ("fgcnn", {"width": (3, 2), "filters": (2, 1), "whole_pools": 1, "linear": 1}),
    ],
)
def test_the_forward_pass_equals_plain_numpy(name, hyper, with_categories):
    check_forward_pass(name, with_categories, **hyper)


def test_the_names_are_those_of_the_models():
    assert tuple(MODELS) == DEEP_MODELS


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


def test_categories_are_one_mean_embedding_and_none_is_zero():
    model = model_of("wide_deep")
    fields = model.fields
    with torch.no_grad():
        fields.categories.weight[0] = 0
    codes = fields.item_categories[3]
    expected = fields.categories.weight[codes[codes > 0].long()].mean(dim=0)
    shown = fields(torch.tensor([0]), torch.tensor([3]))[0, -1]
    assert torch.allclose(shown, expected)


def test_sizes_are_those_of_the_reference_with_its_six_fields():
    # two ids and four attributes, embedding 4: the shapes of its checkpoint
    six = replace(
        tables(False), user_sizes=(150, 3, 3, 3, 3), user_codes=np.zeros((150, 5), dtype=np.int32)
    )
    hyper = {"embedding": 4, "layers": (32,), "width": (3, 2), "filters": (2, 1), "whole_pools": 1}
    shapes = {name: [*w.shape] for name, w in build_model("fgcnn", hyper, six).named_parameters()}
    assert shapes["convolutions.1.weight"] == [1, 2, 2, 1]
    assert shapes["recombinations.0.weight"] == [24, 24]
    assert shapes["recombinations.1.weight"] == [8, 4]
    assert shapes["deep.0.weight"] == [32, 147]


@pytest.mark.parametrize(
    ("name", "hyper"),
    [
        *(("dcn", {"embedding": 0}), ("dcn", {"embedding": 8.5}), ("dcn", {"dropout": 2.0})),
        *(("dcn", {"layers": 0}), ("dcn", {"cross_layers": 0}), ("fgcnn", {"width": (3, 2, 3)})),
        *(("fgcnn", {"filters": 8}), ("fgcnn", {"linear": 2})),
        ("fgcnn", {"pooling": 9, "whole_pools": 1}),
    ],
)
def test_impossible_hyper_parameters_are_refused(name, hyper):
    with pytest.raises(FairRecError, match=r"invalid hyper-parameter.*: expected .*, got "):
        build_model(name, hyper, tables())


def test_one_layer_may_be_given_as_a_number():
    assert build_model("dcn", {"layers": 12}, tables()).hyper.layers == (12,)


def test_unknown_models_and_hyper_parameters_are_refused():
    with pytest.raises(FairRecError, match="Did you mean 'deepfm'"):
        build_model("deepmf", {}, tables())
    with pytest.raises(FairRecError, match="no hyper-parameter 'depth'"):
        build_model("dcn", {"depth": 3}, tables())


@pytest.mark.parametrize("name", list(MODELS))
def test_scores_do_not_depend_on_the_chunk_or_on_other_rows(name, monkeypatch):
    model = model_of(name)
    users, items = random_pairs(100)
    whole = score_pairs(model, users, items)
    monkeypatch.setattr("fairrec_paper.models.networks.CPU_ROWS", 7)
    assert score_pairs(model, users, items) == pytest.approx(whole, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("name", list(MODELS))
def test_threads_change_no_bit_of_a_score(name, monkeypatch):
    monkeypatch.setattr("fairrec_paper.models.networks.CPU_ROWS", 64)
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
    monkeypatch.setattr("fairrec_paper.models.networks.CPU_ROWS", 64)
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
