"""The demo: a world with one group that is hard to serve, a recommender, and its audit."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from fairrec.arrays import IntArray
from fairrec.auditing import audit
from fairrec.datasets.synthetic import World, synthetic_world
from fairrec.inputs.ids import positions_in
from fairrec.models.ease import Ease
from fairrec.options import Progress
from fairrec.result.audit_result import AuditResult, check_writable

PLANTED = {"gender": "F", "age": "56+"}
BY = ("gender", "age", "occupation")


def run_demo(folder: Path, seed: int, progress: Progress | None = None) -> AuditResult:
    """Make the world, train EASE on it, write the tables and the audit of its predictions."""
    check_writable(folder)
    told = progress or (lambda stage, done, total: None)
    told("making a world", 0, 0)
    world = synthetic_world(worse_served=PLANTED, seed=seed)
    told("training EASE", 0, 0)
    predictions = _score(world)
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "users": world.users,
        "items": world.items,
        "history": world.history,
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


def _score(world: World) -> pl.DataFrame:
    user_ids, item_ids = world.users["user_id"], world.items["item_id"]

    def codes(table: pl.DataFrame, column: str, keys: pl.Series) -> IntArray:
        return positions_in(table[column], keys).astype("int64")

    model = Ease.fit(
        codes(world.history, "user_id", user_ids),
        codes(world.history, "item_id", item_ids),
        len(user_ids),
        len(item_ids),
    )
    scores = model.score(
        codes(world.candidates, "user_id", user_ids), codes(world.candidates, "item_id", item_ids)
    )
    return world.candidates.with_columns(pl.Series("score", scores))
