"""What an audit has one value of each: users or items, and the words for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

_WORDS = re.compile(r"\w[\w -]{0,59}")
"""Nothing that a page, Markdown or a terminal could take for more than a name."""

Side = Literal["users", "items"]
"""Whose values are compared: of the users of lists, or of the items in them."""


class EndWords(NamedTuple):
    """What groups are at the worse and the better end of a metric."""

    worse: str
    better: str


CHANGES = EndWords("worse off as they are", "better off as they are")
"""Of what a metric of users would be more or less by, were something about them another."""
DISTANCES = EndWords("changed more", "changed less")
"""Of how far two lists of a user are apart."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What is audited, as sentences say it: one of them, and many.

    Users are served; all else is shown to them, and so exposed.

    Examples
    --------
    >>> ITEMS.count(1_204), USERS.count(1)
    ('1,204 items', '1 user')
    """

    one: str = "user"
    many: str = "users"

    def __post_init__(self) -> None:
        for text in (self.one, self.many):
            if not _WORDS.fullmatch(text):
                raise ValueError(f"a unit is named by letters and digits, not by {text[:80]!a}")

    @classmethod
    def of_column(cls, column: str) -> Unit:
        """The unit whose ids a column holds; what a name cannot be is called a unit.

        >>> Unit.of_column("provider_id"), Unit.of_column("company")
        (Unit(one='provider', many='providers'), Unit(one='company', many='companies'))
        >>> Unit.of_column("user_id").is_users
        False
        """
        one = re.sub(r"[_ -]?ids?$", "", column, flags=re.IGNORECASE).replace("_", " ").strip()
        # makers may be called users, but the words for users do not fit them
        if not _WORDS.fullmatch(one) or len(one) > 50 or one.lower() == USERS.one:
            one = "unit"
        if re.search(r"[^aeiou]y$", one):
            return cls(one, f"{one[:-1]}ies")
        return cls(one, f"{one}es" if re.search(r"(s|x|ch|sh)$", one) else f"{one}s")

    def id_column(self, made_by: str = "") -> str:
        """The column of their ids in a table of them.

        Parameters
        ----------
        made_by : the column of the items that names the unit of each; empty for items and users

        >>> USERS.id_column(), ITEMS.id_column(), Unit("maker", "makers").id_column("maker id")
        ('user_id', 'item_id', 'maker id')
        """
        return made_by or f"{self.one}_id"

    @property
    def is_users(self) -> bool:
        """Whether these are users, for whom lists are made."""
        return self.one == "user"

    @property
    def side(self) -> Side:
        """The side that they are on, single items or units of them."""
        return "users" if self.is_users else "items"

    def noun(self, n: int) -> str:
        """Singular or plural."""
        return self.one if n == 1 else self.many

    def count(self, n: int) -> str:
        """So many of them."""
        return f"{n:,} {self.noun(n)}"

    @property
    def a(self) -> str:
        """Any one of them."""
        return f"{'an' if self.one[0].lower() in 'aeio' else 'a'} {self.one}"

    @property
    def everyone(self) -> str:
        """All of them."""
        return "everyone" if self.is_users else f"all {self.many}"

    @property
    def end_words(self) -> EndWords:
        """What groups are at both ends of a metric; metrics of two lists have other words."""
        if self.is_users:
            return EndWords("served worse", "served better")
        return EndWords("exposed less", "exposed more")


USERS = Unit()
ITEMS = Unit("item", "items")
