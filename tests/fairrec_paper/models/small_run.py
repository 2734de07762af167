"""A small bundle and a run, to be had in a second."""

from __future__ import annotations

from pathlib import Path

from fairrec.demo.world_options import WorldOptions
from fairrec_paper.datasets.bundle import Bundle, read_bundle, write_bundle
from fairrec_paper.datasets.synthetic import synthetic_bundle
from fairrec_paper.models.options import TrainingOptions
from fairrec_paper.models.training import train


def small_bundle(**options) -> Bundle:
    return synthetic_bundle(
        WorldOptions(n_users=150, n_items=80, interactions=15, n_categories=6, **options)
    )


def small_run(folder: Path, model: str = "deepfm", seed: int = 0) -> Path:
    """Train a small model into `folder/run`; the same folder again is trained anew."""
    write_bundle(small_bundle(), folder / "bundle")
    options = TrainingOptions(epochs=1, batch_size=256, candidates=20, seed=seed)
    bundle = read_bundle(folder / "bundle")
    train(bundle, model, folder / "run", {"layers": (8,)}, options, restart=True)
    return folder / "run"
