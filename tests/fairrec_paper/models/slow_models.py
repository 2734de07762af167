"""Each model's logit recomputed in plain NumPy from its weights, one pair at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fairrec_paper.models.networks import score_pairs
from tests.fairrec_paper.models.small_models import model_of, random_pairs


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
    return slow_tower(w, x, len(hyper.layers)) + first_order(w, "wide", user, item)


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
