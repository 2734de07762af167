"""Amazon Electronics: reviews of products with prices; attributes come from behaviour.

Written from the description of the files and tested on files made here: it has read no real one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.progress import Progress
from fairrec_paper.datasets.bundle import (
    ATTRIBUTES,
    DATASETS,
    RULE,
    Bundle,
    Dataset,
    behaviour_deciles,
    counted,
    first_of_each_pair,
    make_bundle,
)
from fairrec_paper.datasets.raw_files import (
    Record,
    find_file,
    frame_of,
    read_records,
)

REVIEWS = tuple(
    f"{prefix}Electronics{core}.json{end}"
    for core in ("_5", "")
    for prefix in ("", "reviews_")
    for end in ("", ".gz")
)
PRODUCTS = ("meta_Electronics.json", "meta_Electronics.json.gz")
PRICE = re.compile(r"\$?\s*(\d[\d,]*(?:\.\d+)?)")


def read(raw: Path, progress: Progress) -> Bundle:
    """The bundle of Amazon Electronics."""
    reviews_file = find_file("amazon-electronics", raw, *REVIEWS)
    products_file = find_file("amazon-electronics", raw, *PRODUCTS)
    reviews = frame_of(
        map(_review, read_records(reviews_file, progress)),
        {"user_id": pl.String, "item_id": pl.String, "rating": pl.Float64, "time": pl.Int64},
    )
    products = frame_of(
        _products(products_file, set(reviews["item_id"]), progress),
        {
            "item_id": pl.String,
            "title": pl.String,
            "price": pl.Float64,
            "categories": pl.List(pl.String),
        },
    )
    priced = products.filter(pl.col("price").is_not_null())
    sold = reviews.join(priced.select("item_id", "price"), on="item_id", maintain_order="left")
    n_unpriced = reviews["item_id"].n_unique() - priced.height
    firsts, notes = first_of_each_pair(sold.sort("time", maintain_order=True))
    interactions = firsts.select(
        "user_id", "item_id", pl.lit(True).alias("is_positive"), "time", "rating", "price"
    )
    return make_bundle(
        "amazon-electronics",
        interactions,
        behaviour_deciles(interactions, amount="price"),
        priced,
        files=(reviews_file.name, products_file.name),
        positive="every review, whatever its rating",
        order="time of the review; reviews of the same time in the order of the file",
        notes=(
            RULE,
            *counted("reviewed products without a price, dropped", n_unpriced),
            *counted("reviews of products without a price, dropped", reviews.height - sold.height),
            *notes,
        ),
    )


def _review(record: Record) -> tuple[str, str, float, int]:
    return (
        record.text("reviewerID"),
        record.text("asin"),
        float(record.number("overall")),
        int(record.number("unixReviewTime")),
    )


def _products(
    file: Path, wanted: set[str], progress: Progress
) -> Iterator[tuple[str, str | None, float | None, list[str]]]:
    """The first record of each product somebody reviewed."""
    for record in read_records(file, progress):
        item_id = record.text("asin")
        if item_id in wanted:
            wanted.discard(item_id)
            title = record.fields.get("title")
            yield (
                item_id,
                title if isinstance(title, str) else None,
                price_of(record.fields.get("price")),
                categories_of(record.fields),
            )


def price_of(value: object) -> float | None:
    """A price given as a number or as text; None where it is not one price above zero.

    >>> price_of("$1,299.00"), price_of(5), price_of("$3.99 - $8.99")
    (1299.0, 5.0, None)
    """
    if isinstance(value, str):
        found = PRICE.fullmatch(value.strip())
        value = float(found[1].replace(",", "")) if found else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < math.inf else None


def categories_of(fields: dict[str, Any]) -> list[str]:
    """The categories of a product, each once: `category` is a list, `categories` one of lists.

    >>> categories_of({"categories": [["Electronics", "Audio"], ["Electronics", "Sale"]]})
    ['Electronics', 'Audio', 'Sale']
    """
    given = fields.get("categories") or fields.get("category")
    paths = given if isinstance(given, list) else []
    names = [name for path in paths for name in (path if isinstance(path, list) else [path])]
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and name))


DATASETS.add(
    "amazon-electronics",
    Dataset(
        name="amazon-electronics",
        title="Amazon Electronics: reviews of products",
        where="https://jmcauley.ucsd.edu/data/amazon/ or https://nijianmo.github.io/amazon/",
        licence="no licence is given; collected by J. McAuley, UC San Diego, for research: cite "
        "the papers named on the page, redistribution not granted",
        files=(
            "reviews_Electronics_5.json.gz or Electronics_5.json.gz",
            "meta_Electronics.json.gz",
        ),
        attributes=ATTRIBUTES,
        n_groups="1,000 (10 x 10 x 10)",
        read=read,
    ),
)
