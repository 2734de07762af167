"""`fairrec audit --run`: the whole command on a run of the shape of LFM360K, and its scoring."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import data
from benchmarks.measure import FAIRREC, Row, call_in_child, in_seconds, run_child
from benchmarks.stages import stages_of

RUNS = 3
BESIDE_SCORING = 4.0
"""Seconds that the command may take beside its scoring."""
SMALL = {"embedding": 8, "layers": (256, 128)}


def run(shrink: int) -> Iterator[Row]:
    """Median times of 267,000 users x 50 candidates with histories and categories, as text."""
    home = data.folder(shrink) / "run"
    if not (home / "run.json").exists():
        call_in_child(make_run, shrink)
    command = (FAIRREC, "audit", "--run", home, "--out", home.with_name("run-audit"), "--force")
    children = [run_child((*command, "--quiet")) for _ in range(RUNS)]
    _, scoring = call_in_child(scoring_seconds, shrink)
    seconds = median(child.seconds or 0 for child in children)
    processor = median(child.processor_seconds for child in children)
    peak = max(child.peak_bytes for child in children) / 1e9
    rest = seconds - scoring
    yield Row("run", "audit --run", f"{in_seconds(seconds)}, {peak:.2f} GB")
    yield Row("run", "the same, processor time", in_seconds(processor))
    yield Row("run", "scoring alone", in_seconds(scoring))
    is_met = rest <= BESIDE_SCORING
    yield Row("run", "the rest", in_seconds(rest), f"{BESIDE_SCORING:g} s", is_met)
    _, stages = call_in_child(run_stages, shrink)
    for name, (seconds, megabytes) in stages.items():
        yield Row("run", name, f"{in_seconds(seconds)} of processor, {megabytes:.0f} MB")


def make_run(shrink: int) -> None:
    """A run as training leaves it, with weights that were drawn: its shape is all that matters."""
    import torch

    from fairrec.core.version import __version__
    from fairrec_paper.datasets.synthetic import shaped_like, synthetic_bundle
    from fairrec_paper.models.data import training_data
    from fairrec_paper.models.run import build_model, save_run
    from fairrec_paper.models.runs import RunRecord
    from fairrec_paper.models.training import write_tables

    home = data.folder(shrink) / "run"
    home.mkdir(parents=True, exist_ok=True)
    shape = shaped_like("lfm360k")
    bundle = synthetic_bundle(shaped_like("lfm360k", n_users=shape.n_users // shrink))
    trained = training_data(bundle)
    torch.manual_seed(data.SEED)
    model = build_model("deepfm", SMALL, trained.features)
    with torch.no_grad():
        model.fields.table.weight.normal_(std=0.3)
    write_tables(bundle, trained, home)
    record = RunRecord(
        fairrec_version=__version__,
        dataset=bundle.manifest.name,
        model=model.name,
        hyper_parameters=SMALL,
        options={},
        attributes=bundle.manifest.attributes,
        has_categories=True,
        n_train=0,
        n_too_short=0,
        epochs=(),
        best_epoch=0,
        holdout_loss=0.0,
        holdout_auc=0.0,
        penalty=0.0,
        test={},
        bundle_sha256={},
    )
    # the record comes last, so that a broken run leaves nothing to reuse
    save_run(record, model, home)


def run_stages(shrink: int) -> dict[str, tuple[float, float]]:
    """Stages of the command, with the model loaded before reading instead of beside it."""

    def audit() -> None:
        import fairrec
        from fairrec_paper.models import run
        from fairrec_paper.models.runs import LoadingRun

        home = data.folder(shrink) / "run"
        # as an attribute, which is where it is timed
        loaded = run.load_run(home, "auto")
        loading = LoadingRun(home, lambda folder: loaded)
        result = fairrec.audit(loading, **loading.tables())
        result.save(home.with_name("run-audit"), force=True)

    more = {
        "load the model": "fairrec_paper.models.run:load_run",
        "scoring": "fairrec_paper.models.runs:LoadingRun.scored",
    }
    return stages_of(audit, more)


def scoring_seconds(shrink: int) -> float:
    """Seconds to score the candidates of the run, of which the first is slow."""
    import numpy as np

    from fairrec_paper.models.networks import score_pairs
    from fairrec_paper.models.run import load_run

    loaded: Any = load_run(Path(data.folder(shrink)) / "run", "auto")
    n_users, n_items = loaded.users.height, loaded.items.height
    users = np.repeat(np.arange(n_users, dtype=np.int32), data.N_CANDIDATES)
    items = np.random.default_rng(0).integers(0, n_items, len(users), dtype=np.int32)
    score_pairs(loaded.model, users[:100_000], items[:100_000])
    started = time.perf_counter()
    score_pairs(loaded.model, users, items)
    return time.perf_counter() - started
