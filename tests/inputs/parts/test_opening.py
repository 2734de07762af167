"""Parts of a table give every user the values that the whole table gives."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.parts.opening import open_parts
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs

BY = ["gender", "age:10", "income:q3"]
LABELS = ["auc", "mrr@3", "ndcg@3", "urp@3", "urd@3"]
HELD_OUT = ["recall@3", "ndcg@3", "map@3", "coverage@3", "urp@3"]


def made(folder: Path, seed: int, order: str, ids: str = "numbers") -> dict[str, Path]:
    """All tables of an audit of a few users, some of whom have nothing but attributes."""
    rng = np.random.default_rng(seed)
    n_users, n_items = 14, 12
    numbers = rng.permutation(100)[:n_users]
    names = numbers if ids == "numbers" else np.array([f"u{n}" for n in numbers])
    if order == "sorted":
        names = np.sort(names)
    users = pl.DataFrame(
        {
            "user_id": names,
            "gender": rng.choice(["F", "M", None], n_users).tolist(),
            "age": rng.integers(10, 60, n_users) + rng.choice([0.0, 0.5], n_users),
            "income": rng.integers(0, 50, n_users).astype(float),
        }
    )
    audited = names[: n_users - 3]

    def rows(of: Any, n_most: int) -> pl.DataFrame:
        n_each = rng.integers(1, n_most, len(of))
        items = np.concatenate([rng.permutation(n_items)[:n] for n in n_each])
        return pl.DataFrame({"user_id": np.repeat(of, n_each), "item_id": items})

    candidates = rows(audited, 9)
    n = len(candidates)
    candidates = candidates.with_columns(
        score=pl.Series(rng.normal(size=n)), label=pl.Series(rng.integers(0, 3, n))
    )
    test, history = rows(rng.permutation(names)[:-2], 5), rows(names[1:], 6)
    if order == "scattered":
        candidates, test, history = (
            table[rng.permutation(len(table))] for table in (candidates, test, history)
        )
    items = pl.DataFrame(
        {"item_id": np.arange(n_items), "categories": rng.choice(["a", "b", "a|b"], n_items)}
    )
    tables = {
        "candidates": candidates,
        "recommended": candidates.drop("label"),
        "test": test,
        "history": history,
        "users": users[rng.permutation(n_users)],
        "items": items,
    }
    paths = {}
    for name, table in tables.items():
        paths[name] = folder / f"{name}.parquet"
        table.write_parquet(paths[name], row_group_size=7)
    # one table in several files, of which borders cut through users
    at = folder / "in-files"
    at.mkdir()
    for number, start in enumerate(range(0, n, 11)):
        candidates[start : start + 11].write_parquet(at / f"{number:03}.parquet")
    return {**paths, "files": at}


def measured(tables: dict[str, Any], metrics: list[str], **options: Any) -> pl.DataFrame:
    """One row a user: values and attributes."""
    inputs, wanted = read_inputs(**tables, **{"by": BY, "metrics": metrics, **options})
    return as_frame(inputs, wanted)


def as_frame(inputs: AuditInputs, wanted: Any) -> pl.DataFrame:
    values = measure_everyone(inputs, wanted)
    labels = {one.name: one.labels for one in inputs.attributes}
    columns = {metric.name: row for metric, row in zip(wanted, values.values, strict=True)}
    about = {"is_expected": inputs.is_expected, "is_without_list": inputs.is_without_list}
    return pl.DataFrame({"user_id": inputs.user_ids, **columns, **labels, **about})


def in_parts(
    tables: dict[str, Any], metrics: list[str], n_rows: int, **options: Any
) -> tuple[pl.DataFrame, int]:
    """The same by parts, and the number of users who are not audited."""
    options = {"by": BY, "metrics": metrics, **options}
    frames, n_others = [], 0
    with open_parts(**tables, n_rows=n_rows, **options) as parts:
        for part in pickle.loads(pickle.dumps(parts.parts)):
            inputs, wanted = read_inputs(**part.tables(), **options)
            frames.append(as_frame(inputs, wanted))
            n_others += len(inputs.absent) + len(inputs.unseen)
    return pl.concat(frames), n_others


def test_values_by_parts_are_those_of_the_whole_to_the_last_bit(tmp_path: Path):
    for seed, order in enumerate(["sorted", "together", "scattered"] * 2):
        ids = "text" if seed > 2 else "numbers"
        folder = tmp_path / str(seed)
        folder.mkdir()
        paths = made(folder, seed, order, ids)
        shared = {"users": paths["users"], "history": paths["history"]}
        with_labels = {"predictions": paths["candidates"], "items": paths["items"], **shared}
        in_files = {**with_labels, "predictions": paths["files"]}
        held_out = {"predictions": paths["recommended"], "test": paths["test"], **shared}
        for tables, metrics in ((with_labels, LABELS), (in_files, LABELS), (held_out, HELD_OUT)):
            inputs, wanted = read_inputs(**tables, by=BY, metrics=metrics)
            whole = as_frame(inputs, wanted)
            for n_rows in (1, 2, 3, 5, 8, 13, 40, 1000):
                found, n_others = in_parts(tables, metrics, n_rows)
                assert found.sort("user_id").equals(whole), (order, ids, n_rows)
                assert n_others == len(inputs.absent) + len(inputs.unseen)
