"""The tables behind "Which films are shown", and behind what a re-ranking does to films.

`python -m benchmarks.films MOVIELENS OUT` reads `interactions.parquet` (`user_id`, `item_id`,
`rating`, `timestamp`) and `items.parquet` (`item_id`, `title`, `genres`) of MovieLens-1M, and
writes `train.parquet`, `test.parquet`, `recs.parquet` and `items.parquet`. With `candidates` behind
it, it writes `candidates.parquet` and `items.parquet`: what users liked and is held out, beside
100 films drawn at random.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.scoring.ease import Ease

N_SHOWN = 10
PENALTY = 300.0
SHARE_TRAINED = 0.8
LIKED = 4
N_OTHERS = 100


@dataclass(frozen=True)
class Scored:
    """What EASE makes of the first ratings of each user.

    Parameters
    ----------
    scores : (n_users, n_films), minus infinity for what a user had before
    """

    user_ids: IntArray
    item_ids: IntArray
    train: pl.DataFrame
    test: pl.DataFrame
    scores: FloatArray

    @classmethod
    def of(cls, ratings: pl.DataFrame, films: pl.DataFrame) -> Scored:
        """The last fifth of each user's ratings is held out."""
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
        return cls(user_ids, item_ids, train, test, scores)


def write_tables(movielens: Path, out: Path) -> None:
    """Ten recommendations for each user, and all ratings that are held out."""
    films = pl.read_parquet(movielens / "items.parquet")
    found = Scored.of(pl.read_parquet(movielens / "interactions.parquet"), films)
    shown = np.argsort(-found.scores, axis=1, kind="stable")[:, :N_SHOWN]
    _write_films(films, out)
    recs = pl.DataFrame({"user_id": found.user_ids, "item_id": found.item_ids[shown].tolist()})
    recs.write_parquet(out / "recs.parquet")
    for name, part in (("train", found.train), ("test", found.test)):
        part.select("user_id", "item_id", "rating").write_parquet(out / f"{name}.parquet")


def write_candidates(movielens: Path, out: Path) -> None:
    """What each user liked and is held out, beside films at random that the user never liked."""
    films = pl.read_parquet(movielens / "items.parquet")
    ratings = pl.read_parquet(movielens / "interactions.parquet")
    found = Scored.of(ratings.filter(pl.col("rating") >= LIKED), films)
    targets = dict(found.test.group_by("user_id").agg("item_id").iter_rows())
    rng = np.random.default_rng(0)
    rows = []
    for user, scores in zip(found.user_ids.tolist(), found.scores, strict=True):
        liked = np.searchsorted(found.item_ids, np.array(targets.get(user, []), dtype=np.int64))
        if not len(liked):
            continue
        others = np.setdiff1d(np.flatnonzero(np.isfinite(scores)), liked)
        items = np.concatenate([liked, rng.choice(others, N_OTHERS, replace=False)])
        labels = (np.arange(len(items)) < len(liked)).astype(int)
        rows.append((user, found.item_ids[items].tolist(), scores[items].tolist(), labels.tolist()))
    _write_films(films, out)
    columns = ["user_id", "item_id", "score", "label"]
    pl.DataFrame(rows, columns, orient="row").write_parquet(out / "candidates.parquet")


def _write_films(films: pl.DataFrame, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    year = pl.col("title").str.extract(r"\((\d{4})\)").cast(pl.Int64)
    films.select("item_id", "genres", year=year).write_parquet(out / "items.parquet")


if __name__ == "__main__":
    write = write_candidates if sys.argv[3:] == ["candidates"] else write_tables
    write(Path(sys.argv[1]), Path(sys.argv[2]))
