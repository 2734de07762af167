"""How much a search may cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fairrec.core.kinds import Kind, percentage, to_number


@dataclass(frozen=True, slots=True)
class Budget:
    """The most users and the most seconds; None for no limit."""

    users: int | None = None
    seconds: float | None = None


def _budget_users(given: Any) -> int | str:
    if isinstance(given, str) and given.strip().endswith("%"):
        percentage(given)
        return given.strip()
    number = to_number(given)
    if number != int(number) or number < 1:
        raise ValueError
    return int(number)


BUDGET_USERS = Kind(
    _budget_users, "a number of users from 1, or a percentage above 0% and up to 100%", "N|SHARE%"
)


def users_allowed(budget: int | str | None, n_users: int) -> int | None:
    """A number of users from a number or a share such as "10%".

    >>> users_allowed("10%", 6040), users_allowed(500, 6040)
    (604, 500)
    """
    if isinstance(budget, str):
        return max(1, math.floor(percentage(budget) * n_users + 1e-9))
    return budget


def paper_seconds(n_users: int, n_combinations: int) -> float:
    """The fixed time of the FairRec paper: 0.005 s for each user and each combination.

    >>> paper_seconds(6040, 294)
    31.67
    """
    return round(0.005 * (n_users + n_combinations), 9)
