"""The demo: a world with one group that is hard to serve, a recommender, and its audit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from fairrec.auditing import audit
from fairrec.datasets.bundle import Bundle, write_bundle
from fairrec.datasets.synthetic import WorldOptions, synthetic_bundle
from fairrec.errors import InputError
from fairrec.models.ease import Ease
from fairrec.models.training_data import TrainingData, training_data
from fairrec.options import Progress
from fairrec.result.audit_result import AuditResult, check_writable

PLANTED = {"gender": "F", "age": "56+"}
BY = ("gender", "age", "occupation")


def run_demo(
    folder: Path, seed: int = 0, model: str = "ease", progress: Progress | None = None
) -> AuditResult:
    """Make the world, train on it, write the tables and the audit of the predictions.

    Parameters
    ----------
    model : "ease", or a deep model where torch is installed
    """
    check_writable(folder)
    told = progress or (lambda stage, done, total: None)
    told("making a world", 0, 0)
    bundle = synthetic_bundle(WorldOptions(worse_served=PLANTED, strength=0.6, seed=seed))
    told(f"training {model}", 0, 0)
    if model == "ease":
        data = training_data(bundle, seed=seed)
        predictions, history = _score_with_ease(bundle, data), data.history
    else:
        predictions, history = _score_with_deep_model(bundle, model, folder, seed, progress)
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "users": bundle.users,
        "items": bundle.items,
        "history": history,
        "predictions": predictions,
    }
    for name, table in tables.items():
        table.write_parquet(folder / f"{name}.parquet")
    result = audit(
        folder / "predictions.parquet",
        users=folder / "users.parquet",
        items=folder / "items.parquet",
        history=folder / "history.parquet",
        by=BY,
        seed=seed,
        progress=progress,
        command=audit_command(folder, seed),
    )
    result.save(folder / "audit")
    return result


def audit_command(folder: Path, seed: int) -> str:
    """The command that audits the demo's tables."""
    return (
        f"fairrec audit {folder}/predictions.parquet --users {folder}/users.parquet "
        f"--items {folder}/items.parquet --history {folder}/history.parquet "
        f"--by {','.join(BY)} --seed {seed} --out {folder}/audit"
    )


def _score_with_ease(bundle: Bundle, data: TrainingData) -> pl.DataFrame:
    users = np.concatenate([data.users, data.holdout_users])
    items = np.concatenate([data.items, data.holdout_items])
    model = Ease.fit(users, items, bundle.users.height, bundle.items.height)
    targets = data.test
    rows = np.repeat(targets.users, targets.items.shape[1])
    columns = targets.items.ravel().astype(np.int64)
    return pl.DataFrame(
        {
            "user_id": bundle.users["user_id"].gather(rows),
            "item_id": bundle.items["item_id"].gather(columns),
            "score": model.score(rows, columns),
            "label": targets.is_target.ravel().astype(np.int8),
        }
    )


def _score_with_deep_model(
    bundle: Bundle, model: str, folder: Path, seed: int, progress: Progress | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    try:
        from fairrec.models.run import load_run
        from fairrec.models.training import TrainingOptions, train
    except ModuleNotFoundError as error:
        raise InputError(
            f"--model {model} needs {error.name}: pip install 'fairrec[models]'"
        ) from error
    write_bundle(bundle, folder / "bundle")
    run = folder / "run"
    options = TrainingOptions(seed=seed, batch_size=1024)
    train(bundle, model, run, options=options, restart=True, progress=progress)
    return load_run(run).predictions(), pl.read_parquet(run / "history.parquet")
