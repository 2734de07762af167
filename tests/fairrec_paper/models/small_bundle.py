"""A small bundle to train on in a second."""

from __future__ import annotations

from fairrec.demo.world_options import WorldOptions
from fairrec_paper.datasets.bundle import Bundle
from fairrec_paper.datasets.synthetic import synthetic_bundle


def small_bundle(**options) -> Bundle:
    return synthetic_bundle(
        WorldOptions(n_users=150, n_items=80, interactions=15, n_categories=6, **options)
    )
