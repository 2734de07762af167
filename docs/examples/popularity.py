"""Popular items for every user of MovieLens-1M: the tables that `fairrec audit` reads.

python popularity.py FOLDER, with `interactions.parquet` (user_id, item_id) and `users.parquet`.
"""

import sys
from pathlib import Path

import polars as pl

folder = Path(sys.argv[1])
ratings = pl.read_parquet(folder / "interactions.parquet").select("user_id", "item_id")
place = pl.int_range(pl.len()).shuffle(seed=0).rank("ordinal").over("user_id")
ratings = ratings.with_columns(place=place)
test, train = ratings.filter(pl.col("place") <= 5), ratings.filter(pl.col("place") > 5)
popular = train.group_by("item_id").len("score").sort("score", descending=True).head(1000)
recs = (
    train.select("user_id")
    .unique()
    .join(popular, how="cross")
    .join(train, on=["user_id", "item_id"], how="anti")  # nothing they know already
    .sort("user_id", "score", "item_id", descending=[False, True, False])
    .group_by("user_id", maintain_order=True)
    .head(10)
)
history = train.group_by("user_id").len("history")
recs.write_parquet("recs.parquet")
test.select("user_id", "item_id").write_parquet("test.parquet")
train.select("user_id", "item_id").write_parquet("history.parquet")
pl.read_parquet(folder / "users.parquet").join(history, on="user_id").write_parquet("users.parquet")
