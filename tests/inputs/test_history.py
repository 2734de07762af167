from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.side_data import Interactions, history_lengths, read_history
from fairrec.inputs.tables import Table

ROWS = [(7, 3), (5, 1), (7, 1), (5, 1), (9, 3), (7, 2)]


def table_of(rows=ROWS, kind=None) -> pl.DataFrame:
    table = pl.DataFrame(rows, schema=["user_id", "item_id"], orient="row")
    return table if kind is None else table.cast(kind)


def pairs_of(history: Interactions) -> list[tuple]:
    users, items = history.user_ids.to_list(), history.item_ids.to_list()
    return [
        (users[u], items[i])
        for u in range(len(users))
        for i in history.items[history.offsets[u] : history.offsets[u + 1]]
    ]


def test_the_length_of_a_history_counts_every_row_and_nothing_is_0():
    table = Table(table_of(), "history")
    assert history_lengths(table, pl.Series([5, 6, 7])).tolist() == [2, 0, 3]
    as_text = history_lengths(Table(table_of(kind=pl.String), "history"), pl.Series(["7", "9"]))
    assert as_text.tolist() == [3, 1]


def test_interactions_come_user_by_user_and_once():
    history = read_history(Table(table_of(), "history"))
    assert pairs_of(history) == [(5, 1), (7, 1), (7, 2), (7, 3), (9, 3)]
    assert history.offsets.tolist() == [0, 1, 4, 5]


def test_order_of_rows_changes_nothing():
    first = read_history(Table(table_of(), "history"))
    other = read_history(Table(table_of(ROWS[::-1]), "history"))
    assert pairs_of(other) == pairs_of(first)


def test_random_interactions_are_the_distinct_ones():
    rng = np.random.default_rng(0)
    rows = [(int(u), int(i)) for u, i in rng.integers(0, 30, (400, 2))]
    history = read_history(Table(table_of(rows), "history"))
    assert pairs_of(history) == sorted(set(rows))


@pytest.mark.parametrize("kind", [None, pl.String, pl.Int32], ids=["Int64", "text", "Int32"])
def test_ids_are_found_whatever_their_type(kind):
    history = read_history(Table(table_of(kind=kind), "history"))
    for asked in (pl.Series([9, 4, 5]), pl.Series(["9", "4", "5"])):
        assert history.users_at(asked).tolist() == [2, -1, 0]
    for asked in (pl.Series([3, 8, 1]), pl.Series(["3", "8", "1"])):
        found = history.items_at(asked)
        assert found.tolist() == [2, -1, 0]
        assert found.dtype == np.int64


def test_text_ids_are_no_numbers():
    history = read_history(Table(table_of([("007", "a"), ("7", "b")]), "history"))
    assert history.users_at(pl.Series(["7", "007"])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (table_of().rename({"item_id": "what"}), "no column 'item_id'"),
        (table_of([]), "the table is empty"),
        (pl.DataFrame({"user_id": [1, None], "item_id": [1, 2]}), "row 2: column 'user_id' is em"),
        (pl.DataFrame({"user_id": [1.5], "item_id": [1]}), "ids are fractions"),
    ],
)
def test_bad_history_is_refused(table, message):
    with pytest.raises(InputError, match=message):
        read_history(Table(table, "history"))
