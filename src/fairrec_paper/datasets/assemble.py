"""The last steps from a publisher's tables to a bundle, which all data sets share."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from fairrec.core.errors import InputError
from fairrec_paper.datasets.bundle import Bundle, Manifest
from fairrec_paper.datasets.registry import DATASETS


def counted(what: str, n: int) -> tuple[str, ...]:
    """A note on so many of something, or none where there are none.

    >>> counted("ratings without a time", 1200)
    ('ratings without a time: 1,200',)
    """
    return (f"{what}: {n:,}",) if n else ()


def first_of_each_pair(interactions: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The first row of each user and item, and a note on the others."""
    firsts = interactions.unique(["user_id", "item_id"], keep="first", maintain_order=True)
    again = interactions.height - firsts.height
    return firsts, counted("further rows of the same user and item, dropped", again)


def most_frequent(column: str, by: str, rows: pl.LazyFrame) -> pl.DataFrame:
    """`by` and its most frequent value of `column`; the first in sorted order among equals."""
    return (
        rows.group_by(by, column)
        .len()
        .collect(engine="streaming")
        .sort(by, "len", column, descending=[False, True, False])
        .unique(by, keep="first", maintain_order=True)
        .drop("len")
    )


def make_bundle(
    name: str,
    interactions: pl.DataFrame,
    users: pl.DataFrame,
    items: pl.DataFrame,
    files: Iterable[str],
    positive: str,
    order: str,
    notes: Iterable[str] = (),
) -> Bundle:
    """The bundle of a data set; users without interactions are dropped and counted.

    Parameters
    ----------
    interactions : each user and item once, users all in `users`
    files : what was read
    positive, order, notes : see `Manifest`
    """
    dataset = DATASETS[name]
    if interactions.height == 0:
        raise InputError(
            f"{name}: no interaction is left ({'; '.join(notes) or 'the files are empty'}). "
            "Check that the files are whole."
        )
    active = users.filter(pl.col("user_id").is_in(interactions["user_id"].unique().implode()))
    gaps = [
        note
        for attribute in dataset.attributes
        for note in counted(f"users without {attribute}", active[attribute].null_count())
    ]
    idle = counted("users without interactions, dropped", users.height - active.height)
    manifest = Manifest(
        name=name,
        source=f"{dataset.where} (read from {', '.join(files)})",
        licence=dataset.licence,
        attributes=dataset.attributes,
        positive=positive,
        order=order,
        n_interactions=interactions.height,
        n_positive=int(interactions["is_positive"].sum()),
        n_users=active.height,
        n_items=items.height,
        notes=(*notes, *idle, *gaps),
    )
    return Bundle(interactions, active, items, manifest)
