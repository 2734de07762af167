"""What an audit has one value of each, and the words for it."""

from __future__ import annotations

import pytest

from fairrec.core.audited_entity import ITEMS, USERS, Unit


def test_one_is_told_from_many():
    assert [USERS.count(n) for n in (0, 1, 2_000)] == ["0 users", "1 user", "2,000 users"]
    assert ITEMS.count(3) == "3 items"
    assert Unit("provider", "providers").count(1) == "1 provider"
    assert [unit.a for unit in (USERS, ITEMS, Unit("unit", "units"))] == [
        *("a user", "an item", "a unit")
    ]


@pytest.mark.parametrize(
    ("column", "many"),
    [
        ("provider_id", "providers"),
        ("item_id", "items"),
        ("country", "countries"),
        ("artist", "artists"),
        ("box", "boxes"),
        ("day", "days"),
        ("id", "units"),
        ("a|b", "units"),
        ("x" * 70, "units"),
    ],
)
def test_the_unit_of_a_column_is_called_by_its_name(column: str, many: str):
    assert Unit.of_column(column).many == many


@pytest.mark.parametrize("odd", ["", "<b>", "a|b", "a\nb", "*", "x" * 61, " a"])
def test_a_name_that_a_page_or_markdown_could_read_as_more_is_refused(odd: str):
    with pytest.raises(ValueError, match="letters and digits"):
        Unit(odd, "many")
    with pytest.raises(ValueError, match="letters and digits"):
        Unit("one", odd)
