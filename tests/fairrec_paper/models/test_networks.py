"""The deep models: what each computes, in plain NumPy too, that it learns, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from fairrec.core.errors import FairRecError
from fairrec_paper.models.data import feature_tables
from fairrec_paper.models.networks import MODELS, score_pairs
from fairrec_paper.models.options import DEEP_MODELS
from fairrec_paper.models.run import build_model
from tests.fairrec_paper.models.small_run import small_bundle

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


def weights(model) -> dict[str, np.ndarray]:
    tensors = {**model.state_dict(), **dict(model.named_buffers())}
    return {name: tensor.numpy().astype(np.float64) for name, tensor in tensors.items()}


def embedded_fields(w, prefix, user, item) -> np.ndarray:
    """(n_fields, size): rows of the table, then the mean of the item's categories."""
    rows = [*w[f"{prefix}.user_rows"][user], *w[f"{prefix}.item_rows"][item]]
    fields = [w[f"{prefix}.table.weight"][int(row)] for row in rows]
    if f"{prefix}.item_categories" in w:
        codes = [int(c) for c in w[f"{prefix}.item_categories"][item] if c > 0]
        table = w[f"{prefix}.categories.weight"]
        size = table.shape[1]
        fields.append(np.mean([table[c] for c in codes], axis=0) if codes else np.zeros(size))
    return np.stack(fields)


def relu_layers(w, prefix, x, n_layers) -> np.ndarray:
    for layer in range(n_layers):
        x = np.maximum(w[f"{prefix}.{2 * layer}.weight"] @ x + w[f"{prefix}.{2 * layer}.bias"], 0)
    return x


def slow_tower(w, x, n_layers) -> float:
    x = relu_layers(w, "deep", x, n_layers)
    return float((w[f"deep.{2 * n_layers}.weight"] @ x + w[f"deep.{2 * n_layers}.bias"])[0])


def first_order(w, prefix, user, item) -> float:
    return float(embedded_fields(w, f"{prefix}.fields", user, item).sum() + w[f"{prefix}.bias"][0])


def slow_wide_deep(w, hyper, user, item) -> float:
    x = embedded_fields(w, "fields", user, item).ravel()
    return slow_tower(w, x, len(hyper.layers)) + first_order(w, "linear", user, item)


def slow_deepfm(w, hyper, user, item) -> float:
    fields = embedded_fields(w, "fields", user, item)
    pairs = sum(
        float(fields[i] @ fields[j]) for i in range(len(fields)) for j in range(i + 1, len(fields))
    )
    deep = slow_tower(w, fields.ravel(), len(hyper.layers))
    return deep + pairs + first_order(w, "linear", user, item)


def slow_dcn(w, hyper, user, item) -> float:
    x0 = embedded_fields(w, "fields", user, item).ravel()
    x = x0
    for weight, bias in zip(w["weights"], w["biases"], strict=True):
        x = x0 * float(x @ weight) + bias + x
    both = np.concatenate([x, relu_layers(w, "deep", x0, len(hyper.layers))])
    logit = float((w["join.weight"] @ both + w["join.bias"])[0])
    return logit + (first_order(w, "linear", user, item) if hyper.linear else 0)


def slow_fgcnn(w, hyper, user, item) -> float:
    features = [*embedded_fields(w, "raw", user, item)]
    maps = [embedded_fields(w, "fields", user, item)]
    for layer in range(len(hyper.filters)):
        kernel, bias = w[f"convolutions.{layer}.weight"], w[f"convolutions.{layer}.bias"]
        width = hyper.widths[layer]
        height, half = len(maps[0]), (width - 1) // 2
        convolved = []
        for number in range(len(kernel)):
            out = np.full(maps[0].shape, bias[number])
            for source, one_map in enumerate(maps):
                for row in range(height):
                    for step in range(width):
                        if 0 <= row + step - half < height:
                            out[row] += kernel[number, source, step, 0] * one_map[row + step - half]
            convolved.append(np.tanh(out))
        last = height - hyper.pooling + 1 if hyper.whole_pools else height
        maps = [
            np.stack(
                [one[i : i + hyper.pooling].max(axis=0) for i in range(0, last, hyper.pooling)]
            )
            for one in convolved
        ]
        flat = np.stack(maps).ravel()
        made = np.tanh(
            w[f"recombinations.{layer}.weight"] @ flat + w[f"recombinations.{layer}.bias"]
        )
        features += [*made.reshape(-1, hyper.embedding)]
    n = len(features)
    products = [float(features[i] @ features[j]) for i in range(n) for j in range(i + 1, n)]
    logit = slow_tower(w, np.concatenate([*features, products]), len(hyper.layers))
    return logit + (first_order(w, "linear", user, item) if hyper.linear else 0)


SLOW_MODELS = {
    "wide_deep": slow_wide_deep,
    "deepfm": slow_deepfm,
    "dcn": slow_dcn,
    "fgcnn": slow_fgcnn,
}


def check_forward_pass(name: str, with_categories: bool, **hyper) -> None:
    """The scores of a model are those of its slow form."""
    model = model_of(name, with_categories, **hyper)
    if with_categories:
        with torch.no_grad():
            for part in model.modules():
                if getattr(part, "categories", None) is not None:
                    part.categories.weight[0] = 0
    users, items = random_pairs(30)
    w = weights(model)
    slow = [SLOW_MODELS[name](w, model.hyper, u, i) for u, i in zip(users, items, strict=True)]
    assert score_pairs(model, users, items) == pytest.approx(slow, rel=1e-4, abs=1e-4)


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


def test_unknown_models_and_hyper_parameters_are_refused():
    with pytest.raises(FairRecError, match="Did you mean 'deepfm'"):
        build_model("deepmf", {}, tables())
    with pytest.raises(FairRecError, match="no hyper-parameter 'depth'"):
        build_model("dcn", {"depth": 3}, tables())


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
