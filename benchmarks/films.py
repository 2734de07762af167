"""The tables behind "Which films are shown" on the page of results.

`python -m benchmarks.films MOVIELENS OUT` reads `interactions.parquet` (`user_id`, `item_id`,
`rating`, `timestamp`) and `items.parquet` (`item_id`, `title`, `genres`) of MovieLens-1M, and
writes `train.parquet`, `test.parquet`, `recs.parquet` and `items.parquet`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.models.shallow.ease import Ease

N_SHOWN = 10
PENALTY = 300.0
SHARE_TRAINED = 0.8


def write_tables(movielens: Path, out: Path) -> None:
    """The last fifth of each user's ratings is held out; EASE recommends from the rest."""
    films = pl.read_parquet(movielens / "items.parquet")
    ratings = pl.read_parquet(movielens / "interactions.parquet")
    ratings = ratings.sort("user_id", "timestamp", "item_id")
    is_trained = pl.int_range(pl.len()) < (SHARE_TRAINED * pl.len()).floor()
    ratings = ratings.with_columns(is_trained=is_trained.over("user_id"))
    train, test = ratings.filter("is_trained"), ratings.filter(~pl.col("is_trained"))

    user_ids = np.sort(ratings["user_id"].unique().to_numpy())
    item_ids = np.sort(films["item_id"].to_numpy())
    users = np.searchsorted(user_ids, train["user_id"].to_numpy())
    items = np.searchsorted(item_ids, train["item_id"].to_numpy())
    model = Ease.fit(users, items, len(user_ids), len(item_ids), PENALTY)
    scores = np.asarray(model.interactions @ model.weights)
    scores[users, items] = -np.inf
    shown = np.argsort(-scores, axis=1, kind="stable")[:, :N_SHOWN]

    out.mkdir(parents=True, exist_ok=True)
    recs = pl.DataFrame({"user_id": user_ids, "item_id": item_ids[shown].tolist()})
    recs.write_parquet(out / "recs.parquet")
    for name, part in (("train", train), ("test", test)):
        part.select("user_id", "item_id", "rating").write_parquet(out / f"{name}.parquet")
    year = pl.col("title").str.extract(r"\((\d{4})\)").cast(pl.Int64)
    films.select("item_id", "genres", year=year).write_parquet(out / "items.parquet")


if __name__ == "__main__":
    write_tables(Path(sys.argv[1]), Path(sys.argv[2]))
