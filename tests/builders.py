"""Small tables, and what two audits of the same data must agree on."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import fairrec
from fairrec.report.audit_result import AuditResult

LISTS = ("item_id", "score", "label")


class Tables(NamedTuple):
    """The four tables of an audit."""

    predictions: pl.DataFrame
    users: pl.DataFrame
    items: pl.DataFrame
    history: pl.DataFrame


@cache
def make_tables(n_users: int = 48, text_ids: bool = True, seed: int = 0) -> Tables:
    """Ragged lists of 4 to 9 candidates with 1 to 3 positives and distinct scores.

    Every tenth user has no positive. Text, whole numbers with gaps and true/false as attributes.
    """
    rng = np.random.default_rng(seed)
    n_items = 12
    users = pl.DataFrame(
        {
            "user_id": np.arange(1, n_users + 1),
            "gender": rng.choice(["F", "M"], n_users),
            "age": rng.integers(15, 70, n_users),
            "member": rng.random(n_users) < 0.5,
        }
    ).with_columns(
        gender=pl.when(pl.col("user_id") % 7 == 3).then(None).otherwise("gender"),
        age=pl.when(pl.col("user_id") % 11 == 5).then(None).otherwise("age"),
    )
    rows = []
    for user in users["user_id"]:
        chosen = rng.permutation(n_items)[: rng.integers(4, 10)]
        n_positives = 0 if user % 10 == 0 else rng.integers(1, 4)
        for place, item in enumerate(chosen):
            rows.append((user, item, rng.random(), int(place < n_positives)))
    predictions = pl.DataFrame(rows, schema=["user_id", *LISTS], orient="row")
    # within a user in random order, so that positives do not stand first
    predictions = predictions.sample(fraction=1.0, shuffle=True, seed=seed).sort(
        "user_id", maintain_order=True
    )
    items = pl.DataFrame(
        {
            "item_id": np.arange(n_items),
            "categories": [[f"c{i % 3}", f"c{i % 4}"] for i in range(n_items)],
        }
    )
    history = pl.DataFrame(
        {
            "user_id": np.repeat(users["user_id"].to_numpy(), 3),
            "item_id": np.concatenate(
                [np.arange(n_items), rng.integers(0, n_items, 3 * n_users - n_items)]
            ),
        }
    )
    tables = Tables(predictions, users, items, history)
    return Tables(*map(with_text_ids, tables)) if text_ids else tables


def with_text_ids(table: pl.DataFrame) -> pl.DataFrame:
    """`u01` for user 1 and `i01` for item 1."""
    return table.with_columns(
        pl.format(f"{name[0]}{{}}", pl.col(name).cast(pl.String).str.zfill(2)).alias(name)
        for name in ("user_id", "item_id")
        if name in table.columns
    )


def one_each(ranks: dict[Any, int | None], n_candidates: int = 4) -> pl.DataFrame:
    """Predictions in which each user's one relevant item comes out at the given place.

    A user with the place None has no relevant item.
    """
    rows = [
        (user, item, float(n_candidates - item), int(item + 1 == place))
        for user, place in ranks.items()
        for item in range(n_candidates)
    ]
    return pl.DataFrame(rows, schema=["user_id", *LISTS], orient="row")


def two_groups(n_users: int = 8, **columns: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Predictions and users `u0`, `u1`, ...: even ones are served at place 1, odd ones at 2.

    Without further columns there is one attribute, `group`, that tells the two apart.
    """
    ids = [f"u{i}" for i in range(n_users)]
    columns = columns or {"group": ["even", "odd"] * (n_users // 2)}
    predictions = one_each({user: i % 2 + 1 for i, user in enumerate(ids)})
    return predictions, pl.DataFrame({"user_id": ids, **columns}, strict=False)


def as_lists(predictions: pl.DataFrame) -> pl.DataFrame:
    """Long form -> one row a user with lists."""
    return predictions.group_by("user_id", maintain_order=True).agg(LISTS)


def audit(predictions: Any, users: Any, by: Any, **options: Any) -> AuditResult:
    """An audit with few permutations, by MRR and of groups of any size unless said otherwise."""
    usual = {"metrics": "mrr", "permutations": 39, "min_support": 1}
    return fairrec.audit(predictions, users=users, by=by, **{**usual, **options})


def numbers_of(result: AuditResult | Path | str) -> dict[str, Any]:
    """All of `result.json` but where the tables came from and the command."""
    text = result.to_json() if isinstance(result, AuditResult) else Path(result).read_text("utf-8")
    return without_origin(json.loads(text))


def without_origin(summary: dict[str, Any]) -> dict[str, Any]:
    """A result without where the tables came from, the command, and what is beside it."""
    origin = ("inputs", "columns", "command", "id")
    return {name: part for name, part in summary.items() if name not in origin}


def values_of(result: AuditResult, metric: str, user_ids: list[Any]) -> list[float | None]:
    """Per-user values of the named users, in that order."""
    of_user = dict(result.per_user.select("user_id", metric).iter_rows())
    return [of_user[user] for user in user_ids]
