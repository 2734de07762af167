"""The demo: a world with one group that is hard to serve, a recommender, and its audit."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.auditing.audit import audit
from fairrec.core.atomic_io import atomic_folder, check_writable, put_table, refuse_foreign
from fairrec.core.progress import Progress
from fairrec.demo.held_out import SplitData, split_data
from fairrec.demo.world import World, make_world
from fairrec.demo.world_options import WorldOptions
from fairrec.result.audit_result import AuditResult
from fairrec.result.folder import AUDIT, names_to_replace
from fairrec.scoring.ease import Ease

PLANTED = {"gender": "F", "age": "56+"}
BY = ("gender", "age", "occupation")


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
    names_to_replace(AUDIT, folder / "audit", force=False)
    progress = progress or (lambda stage, done, total: None)
    progress("making synthetic data", 0, 0)
    world = make_world(WorldOptions(worse_served=PLANTED, strength=0.6, seed=seed))
    progress("training ease", 0, 0)
    data = split_data(world.interactions, world.users, world.items, seed=seed)
    tables = {
        "users": world.users,
        "items": world.items,
        "history": data.history,
        "predictions": _score_with_ease(world, data),
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
