"""The demo: a world with one group that is hard to serve, a recommender, and its audit."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.auditing.audit import audit
from fairrec.core.atomic_io import atomic_folder, check_writable, put_table, refuse_foreign
from fairrec.core.audit_options import About, Engine
from fairrec.core.progress import Progress
from fairrec.demo.held_out import SplitData, split_data
from fairrec.demo.world import World, make_world
from fairrec.demo.world_options import WorldOptions
from fairrec.report.audit_result import AuditResult
from fairrec.result.folder import AUDIT, names_to_replace, result_kind
from fairrec.scoring.ease import Ease

PLANTED = {"gender": "F", "age": "56+"}
BY = ("gender", "age", "occupation")
TABLES = ("users", "items", "history", "predictions")


def run_demo(
    folder: Path,
    seed: int = 0,
    progress: Progress | None = None,
    report: bool = True,
) -> AuditResult:
    """Make the world, train on it, write the tables and the audit of the predictions.

    Parameters
    ----------
    report : whether to write the page
    """
    check_writable(folder)
    if result_kind(folder / "audit") is not AUDIT:
        refuse_foreign(folder, (f"{name}.parquet" for name in TABLES), "demo")
    names_to_replace(AUDIT, folder / "audit", force=False)
    progress = progress or (lambda stage, done, total: None)
    progress("making synthetic data", 0, 0)
    world = make_world(WorldOptions(worse_served=PLANTED, strength=0.6, seed=seed))
    progress("training ease", 0, 0)
    data = split_data(world.interactions, world.users, world.items, seed=seed)
    tables = (world.users, world.items, data.history, _score_with_ease(world, data))
    with atomic_folder(folder, owned=("predictions.parquet",)) as part:
        for name, table in zip(TABLES, tables, strict=True):
            put_table(table, part / f"{name}.parquet")
    result = audit(
        folder / "predictions.parquet",
        users=folder / "users.parquet",
        items=folder / "items.parquet",
        history=folder / "history.parquet",
        by=BY,
        seed=seed,
        engine=Engine(progress=progress),
        about=About(command=demo_audit_command(folder, seed)),
    )
    progress("writing", 0, 0)
    result.save(folder / "audit", report)
    return result


def demo_audit_command(folder: Path, seed: int) -> str:
    """The command that audits the demo's tables."""
    *beside, predictions = (str(folder / f"{name}.parquet") for name in TABLES)
    options = [
        part for name, file in zip(TABLES, beside, strict=False) for part in (f"--{name}", file)
    ]
    settings = ["--by", ",".join(BY), "--seed", str(seed), "--out", str(folder / "audit")]
    return shlex.join(["fairrec", "audit", predictions, *options, *settings])


def _score_with_ease(world: World, data: SplitData) -> pl.DataFrame:
    users = np.concatenate([data.users, data.holdout_users])
    items = np.concatenate([data.items, data.holdout_items])
    model = Ease.fit(users, items, world.users.height, world.items.height)
    targets = data.test
    rows = np.repeat(targets.users, targets.items.shape[1])
    columns = targets.items.ravel().astype(np.int64)
    return pl.DataFrame(
        {
            "user_id": world.users["user_id"].gather(rows),
            "item_id": world.items["item_id"].gather(columns),
            "score": model.score(rows, columns),
            "label": targets.is_target.ravel().astype(np.int8),
        }
    )
