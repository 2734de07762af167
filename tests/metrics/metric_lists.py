"""Small ranked lists for tests: written down, or drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.ids import encode
from fairrec.inputs.side_data import (
    OtherLists,
    SideData,
    compute_user_profiles,
    read_categories,
    read_history,
    read_item_columns,
    read_popularity,
)
from fairrec.inputs.tables import Table
from fairrec.metrics import METRICS, MetricAtK, parse_metric
from fairrec.metrics.ranked import RankedLists


class Candidate(NamedTuple):
    """One row of the predictions."""

    item: int
    score: float
    label: float


User = list[Candidate]
"""The candidates of a user, in the order of the rows."""

Categories = Mapping[int, frozenset[str]]
Interaction = tuple[int, int]
"""A user, by position, and an item."""


@dataclass(frozen=True)
class World:
    """Candidate lists and side data, as plain Python values."""

    users: list[User]
    categories: Categories
    history: list[Interaction]


def user(labels: Sequence[float], scores: Sequence[float] | None = None) -> User:
    """A user with items 0, 1, 2, ...; without scores the rows are in ranked order."""
    scores = range(len(labels), 0, -1) if scores is None else scores
    return [
        Candidate(item, float(score), float(label))
        for item, (score, label) in enumerate(zip(scores, labels, strict=True))
    ]


def ranked_lists(
    users: Sequence[User],
    categories: Categories | None = None,
    history: Sequence[Interaction] | None = None,
    max_k: int = 5,
    threads: int = 1,
    against: Sequence[Sequence[int]] | None = None,
) -> RankedLists:
    """The lists as the metrics see them, with side data read from tables.

    Parameters
    ----------
    against : other lists of the same users, the best item first; the own ones backwards where none
        are given
    """
    rows = [candidate for candidates in users for candidate in candidates]
    items, item_ids = encode(pl.Series([row.item for row in rows], dtype=pl.Int64))
    offsets = np.cumsum([0, *map(len, users)], dtype=np.int64)
    candidates = CandidateLists(
        offsets=offsets,
        items=items,
        scores=np.array([row.score for row in rows], dtype=np.float64),
        labels=np.array([row.label for row in rows], dtype=np.float64),
        item_ids=item_ids,
    )
    known_categories, popularity, per_item = None, None, {}
    if categories is not None:
        table = items_of(categories)
        known_categories, _ = read_categories(Table(table, "items"), item_ids)
        table = table.with_columns(
            pl.Series("price", [price_of(item) for item in categories], dtype=pl.Float64),
            # somebody has the value that is asked for, or it would be refused
            pl.concat_list("categories").alias("kind"),
        )
        nobody = pl.DataFrame(
            {"item_id": [-1], "categories": [["a"]], "price": [1.0], "kind": [["a"]]}
        )
        table = pl.concat([table, nobody])
        per_item, _ = read_item_columns(Table(table, "items"), item_ids, ["kind=a", "price"])
    if history is not None:
        table = table_of(history)
        user_ids = pl.Series(range(len(users)), dtype=pl.Int64)
        popularity, _ = read_popularity(Table(table, "history"), item_ids, user_ids)
    profiles = None
    if categories is not None and history is not None:
        interactions = read_history(Table(table_of(history), "history"))
        known, _ = read_categories(Table(items_of(categories), "items"), interactions.item_ids)
        user_ids = pl.Series(range(len(users)), dtype=pl.Int64)
        profiles = compute_user_profiles(interactions, known, interactions.users_at(user_ids))
    if against is None:
        against = [[one.item for one in reversed(candidates)] for candidates in users]
    known = {item: at for at, item in enumerate(item_ids.to_list())}
    other = OtherLists(
        np.cumsum([0, *map(len, against)], dtype=np.int64),
        np.array(
            [known.setdefault(item, len(known)) for one in against for item in one], dtype=np.int32
        ),
        len(known),
    )
    side = SideData(
        known_categories, popularity, per_item=per_item, user_profiles=profiles, against=other
    )
    return RankedLists(candidates, max_k, side, threads)


def items_of(categories: Categories) -> pl.DataFrame:
    """The table of items with their categories."""
    return pl.DataFrame(
        {"item_id": list(categories), "categories": [sorted(c) for c in categories.values()]},
        schema={"item_id": pl.Int64, "categories": pl.List(pl.String)},
    )


def table_of(history: Sequence[Interaction]) -> pl.DataFrame:
    """The table of interactions."""
    return pl.DataFrame(list(history), schema=["user_id", "item_id"], orient="row")


def price_of(item: int) -> float | None:
    """What an item costs; not known of some."""
    return None if item % 7 == 3 else 10.0 + item % 11


def asked_for(name: str, k: int | None = None) -> str:
    """A metric as it is asked for, about a column of the items where it needs one.

    >>> asked_for("ndcg", 3), asked_for("share", 5)
    ('ndcg@3', 'share@5[kind=a]')
    """
    brackets = {"": "", "column": "[price]", "column=value": "[kind=a]"}[METRICS[name].takes]
    return f"{name}{'' if k is None else f'@{k}'}{brackets}"


def per_user(metric: MetricAtK, lists: RankedLists) -> FloatArray:
    """(n_users,), the values of a metric."""
    return metric.checked(metric.compute(lists), lists.n_users)


def values_of(
    name: str,
    users: Sequence[User],
    categories: Categories | None = None,
    history: Sequence[Interaction] | None = None,
    threads: int = 1,
) -> FloatArray:
    """One value per user of a metric such as `ndcg@3`."""
    metric = parse_metric(name)
    lists = ranked_lists(users, categories, history, metric.k or 0, threads)
    return per_user(metric, lists)


def value_of(
    name: str,
    one: User,
    categories: Categories | None = None,
    history: Sequence[Interaction] | None = None,
) -> float:
    """The value of a metric for a single user."""
    (value,) = values_of(name, [one], categories, history)
    return float(value)


def world_values(name: str, world: World, threads: int = 1) -> FloatArray:
    """One value per user of a world with side data."""
    return values_of(name, world.users, world.categories, world.history, threads)


def random_world(
    rng: np.random.Generator,
    n_users: int = 60,
    max_length: int = 12,
    n_items: int = 40,
    share_relevant: float = 0.3,
    max_label: int = 3,
    has_ties: bool = True,
) -> World:
    """Ragged lists with graded labels; some empty, some all or not at all relevant."""
    users = []
    for _ in range(n_users):
        length = int(rng.integers(0, max_length + 1))
        items = rng.permutation(n_items)[:length]
        labels = rng.integers(1, max_label + 1, length) * (rng.random(length) < share_relevant)
        labels = labels * rng.choice([0, 1, 1, 1, 1]) + rng.choice([0, 0, 0, 0, 1])
        # a few different scores only, so that most lists have ties
        scores = rng.integers(0, 5, length) if has_ties else rng.permutation(n_items)[:length]
        users.append(
            [
                Candidate(int(item), float(score) / 8, float(label))
                for item, score, label in zip(items, scores, labels, strict=True)
            ]
        )
    names = np.array(list("abcdef"))
    categories = {
        item: frozenset(map(str, names[rng.random(len(names)) < 0.4]))
        for item in range(n_items)
        if rng.random() < 0.9
    }
    # the last users have no history, and some interactions are of users nobody audits
    history = [
        (int(rng.integers(0, n_users * 3 // 4)) + n_users * int(rng.random() < 0.1), int(item))
        for item in np.minimum(rng.geometric(0.1, 6 * n_users), n_items)
    ]
    return World(users, categories, history)
