"""Tables that were taken for each other."""

from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.audit_inputs import open_tables
from fairrec.inputs.table_options import TableOptions

USERS = pl.DataFrame({"user_id": [1, 2], "gender": ["F", "M"]})
RECS = pl.DataFrame({"user_id": [1, 2], "item_id": [7, 8], "rank": [1, 1]})
TEST = pl.DataFrame({"user_id": [1, 2], "item_id": [7, 9]})
CANDIDATES = RECS.rename({"rank": "score"}).with_columns(label=1)


def test_tables_in_their_places_are_opened():
    assert {*open_tables(RECS, TableOptions(users=USERS, test=TEST))} == {
        "predictions",
        "users",
        "test",
    }
    assert {*open_tables(CANDIDATES, TableOptions(users=USERS))} == {"predictions", "users"}


@pytest.mark.parametrize(
    ("predictions", "given", "words"),
    [
        (USERS, {"users": CANDIDATES}, "they look swapped.*gender.*users"),
        (USERS, {"users": USERS}, "no column 'item_id', so it holds no predictions.*gender"),
        (CANDIDATES, {"users": RECS}, "has items and scores, so it looks like predictions"),
        (RECS, {"users": TEST, "test": USERS}, "the test table has no items.*swapped"),
        (TEST, {"users": USERS, "test": RECS}, "the test table has scores or ranks.*swapped"),
    ],
)
def test_tables_in_the_place_of_another_are_told(predictions, given, words):
    with pytest.raises(InputError, match=words):
        open_tables(predictions, TableOptions(**given))


def test_attributes_may_stand_beside_values_with_items():
    # a count of items is a number like any other
    values = USERS.with_columns(item_id=pl.Series([3, 4]), score=pl.Series([0.1, 0.2]))
    assert "values" in open_tables(None, TableOptions(values=values))


@pytest.mark.parametrize("name", ["test", "history"])
def test_lists_are_not_held_against_themselves(name, tmp_path):
    RECS.write_parquet(tmp_path / "recs.parquet")
    (tmp_path / "link.parquet").symlink_to(tmp_path / "recs.parquet")
    others = {"test": TEST, name: str(tmp_path / "link.parquet")}
    with pytest.raises(InputError, match=f"given as the predictions and as {name}: .*leave out"):
        open_tables(str(tmp_path / "recs.parquet"), TableOptions(users=USERS, **others))
