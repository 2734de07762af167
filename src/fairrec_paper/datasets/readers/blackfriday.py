"""Black Friday: purchases of a shop's customers, with six attributes of each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from fairrec.core.progress import Progress
from fairrec_paper.datasets import bundle

FILES = ("train.csv", "BlackFriday.csv")
COLUMNS = {
    "User_ID": "user_id",
    "Product_ID": "item_id",
    "Gender": "gender",
    "Age": "age",
    "Occupation": "occupation",
    "City_Category": "city_category",
    "Stay_In_Current_City_Years": "stay_in_current_city_years",
    "Marital_Status": "marital_status",
    "Product_Category_1": "product_category_1",
    "Product_Category_2": "product_category_2",
    "Product_Category_3": "product_category_3",
    "Purchase": "purchase",
}
ATTRIBUTES = (
    *("gender", "age", "occupation"),
    *("city_category", "stay_in_current_city_years", "marital_status"),
)
TEXTS = ("gender", "age", "city_category", "stay_in_current_city_years")
NUMBERS = ("occupation", "marital_status")
CATEGORIES = ("product_category_1", "product_category_2", "product_category_3")


def read(raw: Path, progress: Progress) -> bundle.Bundle:
    """The bundle of Black Friday."""
    progress("reading purchases", 0, 0)
    tables = _parquet_tables(raw) if bundle.holds_parquet(raw) else _tables(raw)
    purchases, users, items = tables
    users.refuse_repeated("user_id")
    people, products = users.collect(), _with_categories(items.collect())
    purchases.refuse_unknown("user_id", people["user_id"], users.file)
    purchases.refuse_unknown("item_id", products["item_id"], items.file)
    rows, notes = bundle.first_of_each_pair(purchases.collect())
    interactions = rows.select(
        "user_id",
        "item_id",
        pl.lit(True).alias("is_positive"),
        pl.lit(None, dtype=pl.Int64).alias("time"),
        pl.col("purchase").alias("amount"),
    )
    return bundle.make_bundle(
        "blackfriday",
        interactions,
        people.select("user_id", *ATTRIBUTES),
        products.join(_prices(interactions), on="item_id", how="left", maintain_order="left"),
        files=dict.fromkeys(table.file for table in tables),
        positive="every purchase",
        order="not known; drawn at random",
        notes=(
            *notes,
            *bundle.count_note("purchases without an amount", interactions["amount"].null_count()),
        ),
    )


def _tables(raw: Path) -> tuple[bundle.RawTable, bundle.RawTable, bundle.RawTable]:
    """Purchases, users and items of the one file, which repeats users and items on each line."""
    path = bundle.find_file("blackfriday", raw, *FILES)
    table = bundle.read_csv(path, tuple(COLUMNS))
    table.refuse(pl.col("Product_ID") == "", "Product_ID", "is empty")
    publishers = {ours: theirs for theirs, ours in COLUMNS.items()}
    numbers = [publishers[name] for name in (*NUMBERS, *CATEGORIES)]
    table = (
        table.whole_numbers("User_ID", "Purchase")
        .whole_numbers(*numbers, may_be_empty=True)
        .rename(COLUMNS)
        .empty_as_missing(*TEXTS)
    )

    def distinct(*columns: str) -> bundle.RawTable:
        rows = table.rows.unique(columns, keep="first", maintain_order=True)
        return replace(table, rows=rows.select("line", *columns))

    users = distinct("user_id", *ATTRIBUTES)
    is_again = ~pl.col("user_id").is_first_distinct()
    users.refuse(is_again, "user_id", "has other attributes than in rows above")
    purchases = table.rows.select("line", "user_id", "item_id", "purchase")
    return replace(table, rows=purchases), users, distinct("item_id", *CATEGORIES)


def _parquet_tables(raw: Path) -> tuple[bundle.RawTable, bundle.RawTable, bundle.RawTable]:
    purchases = bundle.read_raw_parquet(raw, "interactions", ("user_id", "item_id", "purchase"))
    users = bundle.read_raw_parquet(raw, "users", ("user_id", *ATTRIBUTES)).whole_numbers("user_id")
    items = bundle.read_raw_parquet(raw, "items", ("item_id", *CATEGORIES)).whole_numbers("item_id")
    return (
        purchases.whole_numbers("user_id", "item_id").whole_numbers("purchase", may_be_empty=True),
        users.whole_numbers(*NUMBERS, may_be_empty=True).empty_as_missing(*TEXTS),
        items.whole_numbers(*CATEGORIES, may_be_empty=True),
    )


def _with_categories(items: pl.DataFrame) -> pl.DataFrame:
    """Each item once with its categories: the three columns share one numbering."""
    numbers = pl.concat_list(pl.col(CATEGORIES).cast(pl.String)).explode()
    return items.group_by("item_id", maintain_order=True).agg(
        numbers.drop_nulls().unique(maintain_order=True).alias("categories"),
        pl.col(CATEGORIES).first(),
    )


def _prices(interactions: pl.DataFrame) -> pl.DataFrame:
    """`item_id` and `price`: the first known amount that somebody paid for it."""
    return interactions.group_by("item_id", maintain_order=True).agg(
        pl.col("amount").drop_nulls().first().alias("price")
    )


bundle.DATASETS.add(
    "blackfriday",
    bundle.Dataset(
        title="Black Friday: purchases of products",
        where="https://www.kaggle.com/datasets/sdolezel/black-friday",
        licence="no licence is given; offered by Analytics Vidhya to participants of its contest: "
        "treat as research use only, redistribution not granted",
        files=FILES,
        attributes=ATTRIBUTES,
        n_groups="8,820 (2 x 7 x 21 x 3 x 5 x 2)",
        read=read,
    ),
)
