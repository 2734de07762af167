"""Amazon Electronics: reviews of products with prices; attributes come from behaviour.

Written from the description of the files and tested on files made here: it has read no real one.
"""

from __future__ import annotations

import ast
import gzip
import json
import math
import re
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import polars as pl
from pydantic import BaseModel, Field, ValidationError

from fairrec.core.errors import InputError, plain
from fairrec.core.progress import Progress
from fairrec.demo.held_out import split_last
from fairrec_paper.datasets import bundle

REVIEWS = tuple(
    f"{prefix}Electronics{core}.json{end}"
    for core in ("_5", "")
    for prefix in ("", "reviews_")
    for end in ("", ".gz")
)
PRODUCTS = ("meta_Electronics.json", "meta_Electronics.json.gz")
ATTRIBUTES = ("activity", "spend", "top_price")
RULE = (
    "activity, spend and top_price: decile 0 to 9 of the number, the total amount and the highest "
    "price of a user's training interactions (all but the last two); a user's decile is 10 times "
    "the share of users with a smaller value, rounded down, so equal values share a decile"
)
PRICE = re.compile(r"\$?\s*(\d[\d,]*(?:\.\d+)?)")
TELL_EVERY = 20_000
Text = Annotated[str, Field(strict=True, min_length=1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class Review(BaseModel):
    """What is used of a line of the reviews."""

    reviewerID: Text  # noqa: N815 - the publisher's
    asin: Text
    overall: Number
    unixReviewTime: Number  # noqa: N815


class Product(BaseModel):
    """What is used of a line of the metadata; older files say `categories`, newer `category`."""

    asin: Text
    title: Any = None
    price: Any = None
    categories: Any = None
    category: Any = None


Record = TypeVar("Record", Review, Product)


def read(raw: Path, progress: Progress) -> bundle.Bundle:
    """The bundle of Amazon Electronics."""
    reviews_file = bundle.find_file("amazon-electronics", raw, *REVIEWS)
    products_file = bundle.find_file("amazon-electronics", raw, *PRODUCTS)
    reviews = pl.DataFrame(
        (
            (one.reviewerID, one.asin, one.overall, int(one.unixReviewTime))
            for one in read_records(reviews_file, Review, progress)
        ),
        {"user_id": pl.String, "item_id": pl.String, "rating": pl.Float64, "time": pl.Int64},
        orient="row",
    )
    products = pl.DataFrame(
        _products(products_file, set(reviews["item_id"]), progress),
        {
            "item_id": pl.String,
            "title": pl.String,
            "price": pl.Float64,
            "categories": pl.List(pl.String),
        },
        orient="row",
    )
    priced = products.filter(pl.col("price").is_not_null())
    sold = reviews.join(priced.select("item_id", "price"), on="item_id", maintain_order="left")
    n_unpriced = reviews["item_id"].n_unique() - priced.height
    firsts, notes = bundle.first_of_each_pair(sold.sort("time", maintain_order=True))
    interactions = firsts.select(
        "user_id", "item_id", pl.lit(True).alias("is_positive"), "time", "rating", "price"
    )
    return bundle.make_bundle(
        "amazon-electronics",
        interactions,
        behaviour_deciles(interactions),
        priced,
        files=(reviews_file.name, products_file.name),
        positive="every review, whatever its rating",
        order="time of the review; reviews of the same time in the order of the file",
        notes=(
            RULE,
            *bundle.count_note("reviewed products without a price, dropped", n_unpriced),
            *bundle.count_note(
                "reviews of products without a price, dropped", reviews.height - sold.height
            ),
            *notes,
        ),
    )


def _products(
    file: Path, wanted: set[str], progress: Progress
) -> Iterator[tuple[str, str | None, float | None, list[str]]]:
    """The first record of each product that was reviewed."""
    for one in read_records(file, Product, progress):
        if one.asin in wanted:
            wanted.discard(one.asin)
            title = one.title if isinstance(one.title, str) else None
            yield one.asin, title, parse_price(one.price), list_categories(one)


def read_records(path: Path, kind: type[Record], progress: Progress) -> Iterator[Record]:
    """The records of a file, one at a time; a name ending in .gz is decompressed on the way."""
    number = 0
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        try:
            for number, line in enumerate(lines, 1):
                if number % TELL_EVERY == 1:
                    progress(f"reading {path.name}, line {number:,}", 0, 0)
                if not line.isspace():
                    yield kind.model_validate(_fields(line))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"{path.name}, line {number + 1}: the compressed file breaks off or is damaged "
                f"here ({error}). Download it again."
            ) from error
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            place = ".".join(map(str, fault["loc"])) or "the line"
            raise InputError(
                f"{path.name}, line {number}: {place} {fault['input']!r:.80}: "
                f"{plain(fault['msg'])}. {bundle.FIX}"
            ) from None


def _fields(line: bytes) -> object:
    """What a line holds; older files hold Python values, of which only literals are read."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        pass
    try:
        with warnings.catch_warnings():
            # odd escapes in descriptions are of no interest
            warnings.simplefilter("ignore")
            return ast.literal_eval(line.decode().strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return line


def parse_price(value: object) -> float | None:
    """A price given as a number or as text; None where it is not one price above zero.

    >>> parse_price("$1,299.00"), parse_price(5), parse_price("$3.99 - $8.99")
    (1299.0, 5.0, None)
    """
    if isinstance(value, str):
        found = PRICE.fullmatch(value.strip())
        value = float(found[1].replace(",", "")) if found else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < math.inf else None


def list_categories(product: Product) -> list[str]:
    """The categories of a product, each once: `category` is a list, `categories` one of lists.

    >>> paths = [["Electronics", "Audio"], ["Electronics", "Sale"]]
    >>> list_categories(Product(asin="B1", categories=paths))
    ['Electronics', 'Audio', 'Sale']
    """
    given = product.categories or product.category
    paths = given if isinstance(given, list) else []
    names = [name for path in paths for name in (path if isinstance(path, list) else [path])]
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and name))


def behaviour_deciles(interactions: pl.DataFrame) -> pl.DataFrame:
    """`user_id`, `activity`, `spend` and `top_price` in deciles over training interactions.

    Parameters
    ----------
    interactions : `user_id`, `time` and `price`; all positive
    """
    # whole hundredths, or the order of a sum could part users who spent the same
    hundredths = (pl.col("price") * 100).round().cast(pl.Int64)
    totals = (
        split_last(interactions)
        .train.group_by("user_id")
        .agg(
            pl.len().alias("activity"),
            hundredths.sum().alias("spend"),
            pl.col("price").max().alias("top_price"),
        )
    )
    return totals.select("user_id", *(decile(name) for name in ATTRIBUTES)).sort("user_id")


def decile(column: str) -> pl.Expr:
    """10 times the share of rows with a smaller value, rounded down; equal values share it."""
    n_smaller = pl.col(column).rank("min").cast(pl.Int64) - 1
    return (10 * n_smaller // pl.len().cast(pl.Int64)).alias(column)


bundle.DATASETS.add(
    "amazon-electronics",
    bundle.Dataset(
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
