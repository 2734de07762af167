"""A small bundle to train on in a second."""

from __future__ import annotations

from fairrec.datasets.bundle import Bundle
from fairrec.datasets.synthetic import synthetic_bundle
from fairrec.datasets.world_options import WorldOptions


def small_bundle(**options) -> Bundle:
    return synthetic_bundle(
        WorldOptions(n_users=150, n_items=80, interactions=15, n_categories=6, **options)
    )
