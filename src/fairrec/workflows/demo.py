"""The demo: a world with one group that is hard to serve, a recommender, and its audit."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.core.atomic_io import atomic_folder, check_writable, put_table, refuse_foreign
from fairrec.core.errors import InputError, unknown_name
from fairrec.core.options import spelled
from fairrec.core.progress import Progress
from fairrec.datasets.bundle import Bundle, write_bundle
from fairrec.datasets.synthetic import synthetic_bundle
from fairrec.datasets.world_options import WorldOptions
from fairrec.models.deep.training_data import TrainingData, training_data
from fairrec.models.shallow.ease import Ease
from fairrec.result.audit_result import AuditResult
from fairrec.result.folder import AUDIT, names_to_replace
from fairrec.workflows.audit import audit

PLANTED = {"gender": "F", "age": "56+"}
BY = ("gender", "age", "occupation")


def run_demo(
    folder: Path,
    seed: int = 0,
    model: str = "ease",
    progress: Progress | None = None,
    report: bool = True,
) -> AuditResult:
    """Make the world, train on it, write the tables and the audit of the predictions.

    Parameters
    ----------
    model : "ease", or a deep model where torch is installed
    report : whether to write the page
    """
    check_writable(folder)
    names_to_replace(AUDIT, folder / "audit", force=False)
    progress = progress or (lambda stage, done, total: None)
    if model != "ease":
        _require_model(model)
    progress("making synthetic data", 0, 0)
    bundle = synthetic_bundle(WorldOptions(worse_served=PLANTED, strength=0.6, seed=seed))
    progress(f"training {model}", 0, 0)
    if model == "ease":
        data = training_data(bundle, seed=seed)
        predictions, history = _score_with_ease(bundle, data), data.history
    else:
        predictions, history = _score_with_deep_model(bundle, model, folder, seed, progress)
    tables = {
        "users": bundle.users,
        "items": bundle.items,
        "history": history,
        "predictions": predictions,
    }
    _refuse_other_tables(folder, tables)
    with atomic_folder(folder, owned=("predictions.parquet",)) as part:
        for name, table in tables.items():
            put_table(table, part / f"{name}.parquet")
    result = audit(
        folder / "predictions.parquet",
        users=folder / "users.parquet",
        items=folder / "items.parquet",
        history=folder / "history.parquet",
        by=BY,
        seed=seed,
        progress=progress,
        command=demo_audit_command(folder, seed),
    )
    progress("writing", 0, 0)
    result.save(folder / "audit", report)
    return result


def _refuse_other_tables(folder: Path, tables: Mapping[str, pl.DataFrame]) -> None:
    """Refuse to replace tables of these names that are not those of an earlier demo."""
    names = {f"{name}.parquet": table.schema for name, table in tables.items()}
    refuse_foreign(
        folder,
        (name for name, schema in names.items() if _schema_of(folder / name) != schema),
        "demo",
    )


def _schema_of(file: Path) -> pl.Schema | None:
    try:
        with file.open("rb") as stream:
            return pl.Schema(pl.read_parquet_schema(stream))
    except (OSError, pl.exceptions.PolarsError):
        return None


def demo_audit_command(folder: Path, seed: int) -> str:
    """The command that audits the demo's tables."""
    tables = {name: str(folder / f"{name}.parquet") for name in ("users", "items", "history")}
    options = [part for name, file in tables.items() for part in (f"--{name}", file)]
    settings = ["--by", ",".join(BY), "--seed", str(seed), "--out", str(folder / "audit")]
    return shlex.join(
        ["fairrec", "audit", str(folder / "predictions.parquet"), *options, *settings]
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


def _require_model(model: str) -> None:
    """Refuse a model that is not known, or cannot be trained here, before anything is written."""
    try:
        from fairrec.models.deep.registry import MODELS
    except ModuleNotFoundError as error:
        raise InputError(
            f"{spelled('model', model)} needs {error.name}: pip install 'fairrec[models]'"
        ) from error
    if model not in MODELS:
        raise unknown_name("model", model, ("ease", *MODELS))


def _score_with_deep_model(
    bundle: Bundle, model: str, folder: Path, seed: int, progress: Progress | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    from fairrec.models.deep.training import train
    from fairrec.models.deep.training_options import TrainingOptions
    from fairrec.models.runs.run import load_run

    write_bundle(bundle, folder / "bundle")
    run = folder / "run"
    options = TrainingOptions(seed=seed, batch_size=1024)
    train(bundle, model, run, options=options, restart=True, progress=progress)
    return load_run(run).predictions(), pl.read_parquet(run / "history.parquet", glob=False)
