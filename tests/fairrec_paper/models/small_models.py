"""Deep models of a size to check by hand."""

from __future__ import annotations

import numpy as np
import torch

from fairrec_paper.models.data import feature_tables
from fairrec_paper.models.run import build_model
from tests.fairrec_paper.models.small_bundle import small_bundle

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
