"""Seeded tables for the benchmarks, written once into bench-data/ and then reused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

DATA = Path("bench-data")
SEED = 0
N_USERS = 267_000
N_CANDIDATES = 50
N_RECOMMENDED = 100
N_HELD_OUT = 5
N_ITEMS = 60_013
"""A prime: steps around a circle of so many items meet no item twice."""
ATTRIBUTES = ("gender", "age", "country")
ITEM_ATTRIBUTES = {"category": 20, "maker_country": 30, "age_of_item": 8}
"""Of items, with how many values each has."""

N_USERS_WIDE = 1_000_000
N_CANDIDATES_WIDE = 10
N_VALUES_WIDE = tuple(2 + i % 7 for i in range(24))


def folder(shrink: int) -> Path:
    """Where the tables of a size are."""
    return DATA / ("full" if shrink == 1 else f"one-in-{shrink}")


def make_lists(shrink: int) -> None:
    """One table of 50 candidates a user in four layouts, and users with three attributes."""
    import numpy as np
    import polars as pl

    home = folder(shrink)
    rng = np.random.default_rng(SEED)
    users, served = _people(rng, N_USERS // shrink)
    rows = _candidates(rng, users["user_id"].to_numpy(), served, N_CANDIDATES)
    as_text = (
        pl.format("user-{}", pl.col("user_id").cast(pl.String).str.zfill(8)).alias("user_id"),
        pl.format("item-{}", pl.col("item_id").cast(pl.String).str.zfill(6)).alias("item_id"),
    )
    _write(users, home / "users.parquet")
    _write(_items(), home / "items.parquet")
    _write(users.with_columns(as_text[0]), home / "users-text.parquet")
    _write(rows, home / "rows.parquet")
    _write(rows.with_columns(as_text), home / "rows-text.parquet")
    _write(rows[rng.permutation(len(rows))], home / "rows-shuffled.parquet")
    _write(rows.group_by("user_id", maintain_order=True).all(), home / "lists.parquet")


def _items() -> pl.DataFrame:
    """All items, with three attributes."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED)
    columns = {name: rng.integers(n, size=N_ITEMS) for name, n in ITEM_ATTRIBUTES.items()}
    return pl.DataFrame({"item_id": np.arange(N_ITEMS), **columns})


def make_wide(shrink: int) -> None:
    """Users with 24 attributes of 2 to 8 values, and 10 candidates for each."""
    import numpy as np
    import polars as pl

    home = folder(shrink)
    rng = np.random.default_rng(SEED)
    n_users = N_USERS_WIDE // shrink
    user_ids = np.arange(n_users)
    columns = {f"a{i:02}": rng.integers(n, size=n_users) for i, n in enumerate(N_VALUES_WIDE)}
    served = 1.0 + sum(rng.normal(0, 0.02, column.max() + 1)[column] for column in columns.values())
    texts = {name: column.astype(str) for name, column in columns.items()}
    _write(pl.DataFrame({"user_id": user_ids, **texts}), home / "wide-users.parquet")
    rows = _candidates(rng, user_ids, served, N_CANDIDATES_WIDE)
    _write(rows, home / "wide-rows.parquet")


def make_recommendations(shrink: int) -> None:
    """100 recommendations and 5 held-out items a user, of whom 1 in 50 has no list."""
    import numpy as np
    import polars as pl

    home = folder(shrink)
    rng = np.random.default_rng(SEED)
    users, served = _people(rng, N_USERS // shrink)
    n_users = len(users)
    start = rng.integers(N_ITEMS, size=(n_users, 1))
    step = rng.integers(1, N_ITEMS, size=(n_users, 1))
    # a held-out item is in the place it happens to have, or in none of them
    places = rng.exponential(300 / served[:, None] ** 2, size=(n_users, N_HELD_OUT)).astype(int)
    places = np.sort(places, axis=1) + np.arange(N_HELD_OUT)
    test = pl.DataFrame(
        {
            "user_id": np.repeat(users["user_id"].to_numpy(), N_HELD_OUT),
            "item_id": ((start + step * places) % N_ITEMS).ravel(),
        }
    )
    has_list = np.arange(n_users) % 50 > 0
    listed = np.arange(N_RECOMMENDED)
    n_lists = int(has_list.sum())
    recs = pl.DataFrame(
        {
            "user_id": np.repeat(users["user_id"].to_numpy()[has_list], N_RECOMMENDED),
            "item_id": ((start + step * listed)[has_list] % N_ITEMS).ravel(),
            "score": np.tile(1 / (listed + 1.0), n_lists),
            "rank": np.tile(listed + 1, n_lists),
        }
    )
    _write(test[rng.permutation(len(test))], home / "test.parquet")
    _write(users, home / "recs-users.parquet")
    _write(recs, home / "recs.parquet")


def _people(rng: Any, n_users: int) -> tuple[pl.DataFrame, Any]:
    """Users with three attributes, and how well each of them is served.

    Every value is served a little better or worse than the others, so there is much to find.
    """
    import numpy as np
    import polars as pl

    ages = np.arange(111)
    codes = {
        "gender": rng.choice(2, n_users, p=[0.28, 0.72]),
        "age": rng.choice(111, n_users, p=_shares(np.exp(-(((ages - 32) / 16) ** 2) / 2) + 0.01)),
        "country": rng.choice(239, n_users, p=_shares(1 / np.arange(1.0, 240) ** 1.1)),
    }
    served = 1.0 + sum(rng.normal(0, 0.1, column.max() + 1)[column] for column in codes.values())
    users = pl.DataFrame(
        {
            "user_id": rng.permutation(10 * n_users)[:n_users],
            "gender": np.array(["F", "M"])[codes["gender"]],
            "age": codes["age"],
            "country": np.array([f"C{code:03}" for code in range(239)])[codes["country"]],
        }
    )
    return users, served


def _candidates(rng: Any, user_ids: Any, served: Any, n_candidates: int) -> pl.DataFrame:
    """One relevant candidate a user among others, with a score that is higher by `served`."""
    import numpy as np
    import polars as pl

    n_users = len(user_ids)
    start = rng.integers(N_ITEMS, size=(n_users, 1))
    step = rng.integers(1, N_ITEMS, size=(n_users, 1))
    items = (start + step * np.arange(n_candidates)) % N_ITEMS
    labels = np.zeros((n_users, n_candidates), dtype=np.int8)
    labels[np.arange(n_users), rng.integers(n_candidates, size=n_users)] = 1
    scores = rng.normal(size=labels.shape) + labels * np.asarray(served)[:, None]
    return pl.DataFrame(
        {
            "user_id": np.repeat(user_ids, n_candidates),
            "item_id": items.ravel(),
            "score": scores.ravel(),
            "label": labels.ravel(),
        }
    )


def _shares(weights: Any) -> Any:
    return weights / weights.sum()


def _write(table: pl.DataFrame, path: Path) -> None:
    """Under its name only when whole, so that a broken run leaves nothing to reuse."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    table.write_parquet(part)
    part.replace(path)
