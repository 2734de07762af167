"""What an audit has one value of each, by its name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """What is audited, as words say it: one of them, and many.

    Examples
    --------
    >>> ITEMS.count(1_204), USERS.count(1)
    ('1,204 items', '1 user')
    """

    one: str = "user"
    many: str = "users"

    def count(self, n: float) -> str:
        """So many of them."""
        return f"{n:,} {self.one if n == 1 else self.many}"


USERS = Unit()
ITEMS = Unit("item", "items")
