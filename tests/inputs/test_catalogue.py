"""The items table as what is compared: items, or units of them."""

from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.inputs.catalogue import read_catalogue
from fairrec.inputs.tables import Table


def table(**columns):
    return Table(pl.DataFrame(columns), "items")


def test_items_are_sorted_and_have_the_attributes_of_their_rows():
    found = read_catalogue(table(item_id=[3, 1, 2], kind=["c", "a", "b"]), ["kind"])
    assert found.units.ids.to_list() == [1, 2, 3]
    assert found.units.columns["kind"].to_list() == ["a", "b", "c"]
    assert found.unit.many == "items"


def test_units_have_the_attributes_that_their_items_share():
    found = read_catalogue(
        table(item_id=[4, 3, 2, 1], who=["y", None, "x", "y"], land=["B", "?", "A", "B"]),
        ["land"],
        "who",
    )
    assert found.units.ids.to_list() == ["x", "y"]
    assert found.units.columns["land"].to_list() == ["A", "B"]
    assert found.item_keys.to_list() == [1, 2, 4]
    assert found.unit_of_item.tolist() == [1, 0, 1]
    assert [str(note) for note in found.notes] == [
        "1 of 4 items of the items table have no 'who' and are left out"
    ]


def test_an_attribute_that_differs_within_a_unit_is_an_error_that_names_both():
    with pytest.raises(InputError, match="who 'x' has items with different values of 'land': A, B"):
        read_catalogue(
            table(item_id=[1, 2, 3], who=["x", "x", "y"], land=["A", "B", "B"]), ["land"], "who"
        )


def test_no_value_beside_a_value_differs_too():
    with pytest.raises(InputError, match="different values of 'land'"):
        read_catalogue(table(item_id=[1, 2], who=["x", "x"], land=["A", None]), ["land"], "who")


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ("hwo", "Did you mean 'who'"),
        ("item_id", "is the item id itself"),
        ("land", "each group would be one unit"),
        ("empty", "column 'empty' is empty in every row"),
    ],
)
def test_a_unit_that_cannot_be_one_is_refused(unit, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        read_catalogue(
            table(item_id=[1, 2], who=["x", "y"], land=["A", "B"], empty=[None, None]),
            ["land"],
            unit,
        )


def test_an_item_that_comes_twice_is_refused():
    with pytest.raises(InputError, match="Keep one row per item"):
        read_catalogue(table(item_id=[1, 1], kind=["a", "b"]), ["kind"])


def test_the_item_id_is_no_attribute():
    with pytest.raises(InputError, match="is the item id itself"):
        read_catalogue(table(item_id=[1, 2], kind=["a", "b"]), ["item_id"])
