"""The items table as what is compared, and what was shown to whom."""

from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.inputs.catalogue import read_catalogue, read_exposure_log
from fairrec.inputs.table_options import TableOptions
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


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ("hwo", "Did you mean 'who'"),
        ("item_id", "is the item id or in by"),
        ("land", "is the item id or in by"),
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


ITEMS = pl.DataFrame({"item_id": [1, 2, 3], "kind": ["a", "b", "b"]})
LISTS = pl.DataFrame({"user_id": ["u", "u", "v"], "item_id": [1, 9, 2], "rank": [1, 2, 1]})


def shown(predictions=LISTS, items=ITEMS, **others):
    frames = {"predictions": predictions, "items": items, **others}
    tables = {name: Table(frame, name) for name, frame in frames.items()}
    given = TableOptions(items=items, side="items", by="kind", **others)
    return read_exposure_log(tables, given, read_catalogue(tables["items"], ["kind"]))


def told(found):
    return [str(note) for note in found.notes if str(note)]


def test_items_without_a_row_are_counted_and_said():
    found = shown()
    assert found.items.tolist() == [0, 1, 3]
    assert told(found) == [
        "the predictions table: 1 of 3 items have no row or unit in the items table; they keep "
        "their places (1 rows) and are in no group"
    ]


def test_lists_of_other_items_altogether_are_refused():
    with pytest.raises(InputError, match="none of its 3 items is in the items table"):
        shown(items=ITEMS.with_columns(item_id=pl.Series([11, 12, 13])))


def test_held_out_items_stand_behind_the_list_of_their_user():
    test = pl.DataFrame({"user_id": ["v", "v", "w"], "item_id": [3, 8, 1]})
    found = shown(test=test)
    assert found.held_out is not None
    assert found.held_out.rows.offsets.tolist() == [0, 0, 2]
    # 8 is in no catalogue
    assert found.held_out.rows.items.tolist() == [2, 3]
    assert any("1 user" in note or "'w'" in note for note in told(found))
    assert (
        "the test table: 1 of 3 items have no row or unit in the items table; what is due to "
        "them goes to no group" in told(found)
    )


def test_a_test_table_without_a_single_hit_is_said():
    def says_so(item):
        found = shown(test=pl.DataFrame({"user_id": ["v"], "item_id": [item]}))
        return any("not one item in" in note for note in told(found))

    # 1 is shown to u alone
    assert says_so(1)
    assert not says_so(2)


@pytest.mark.parametrize("name", ["test", "history"])
def test_a_table_with_other_item_ids_is_refused(name):
    other = pl.DataFrame({"user_id": ["u", "v"], "item_id": [101, 102]})
    with pytest.raises(InputError, match=f"the {name} table: none of its 2 items is in the items"):
        shown(**{name: other})


def test_what_was_shown_or_held_out_all_the_same_could_have_been_shown():
    history = pl.DataFrame({"user_id": ["u", "u", "u", "v", "x"], "item_id": [1, 2, 8, 3, 3]})
    test = pl.DataFrame({"user_id": ["v"], "item_id": [3]})
    found = shown(test=test, history=history)
    assert found.seen is not None
    # of u 1 is shown and 8 in no catalogue; of v 3 is held out
    assert found.seen.offsets.tolist() == [0, 1, 1]
    assert found.seen.items.tolist() == [1]


def test_a_history_of_other_users_is_refused():
    with pytest.raises(InputError, match="none of the users with a list has a row there"):
        shown(history=pl.DataFrame({"user_id": ["q"], "item_id": [1]}))


def test_labels_make_candidates_of_the_rows_and_nothing_makes_recommendations_of_them():
    scored = LISTS.select("user_id", "item_id", score=1.0 / pl.col("rank"))
    assert shown(scored).is_of_all
    labelled = shown(scored.with_columns(label=pl.Series([0, 1, 1])))
    assert not labelled.is_of_all
    assert any("whose candidate it is" in note for note in told(labelled))


def test_an_item_without_a_unit_is_in_no_group():
    assert told(shown_of_makers()) == [
        "1 of 3 items of the items table have no 'maker' and are left out",
        # 2 has no maker, and 9 no row
        "the predictions table: 2 of 3 items have no row or unit in the items table; they keep "
        "their places (2 rows) and are in no group",
    ]


def shown_of_makers(**others):
    items = ITEMS.with_columns(maker=pl.Series(["m", None, "n"]))
    frames = {"predictions": LISTS, "items": items, **others}
    tables = {name: Table(frame, name) for name, frame in frames.items()}
    given = TableOptions(items=items, side="items", by="kind", unit="maker", **others)
    return read_exposure_log(tables, given, read_catalogue(tables["items"], ["kind"], "maker"))
