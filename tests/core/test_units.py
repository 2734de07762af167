"""What an audit has one value of each, by its name."""

from __future__ import annotations

from fairrec.core.units import ITEMS, USERS, Unit


def test_one_is_told_from_many():
    assert [USERS.count(n) for n in (0, 1, 2_000)] == ["0 users", "1 user", "2,000 users"]
    assert ITEMS.count(3) == "3 items"
    assert Unit("provider", "providers").count(1) == "1 provider"
