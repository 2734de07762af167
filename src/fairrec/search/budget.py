"""How much a search may cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fairrec.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Budget:
    """The most users and the most seconds; None for no limit."""

    users: int | None = None
    seconds: float | None = None


def users_allowed(given: int | str | None, n_users: int) -> int | None:
    """A number of users from a number or a share such as "10%".

    >>> users_allowed("10%", 6040), users_allowed(500, 6040), users_allowed("1,000", 6040)
    (604, 500, 1000)
    """
    if given is None:
        return None
    text = str(given).strip().replace(",", "").replace("_", "")
    is_share = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    whole = is_share or number == int(number) if math.isfinite(number) else False
    if not whole or number <= 0 or (is_share and number > 100):
        raise InputError(
            f"--budget-users {given} is not possible. Give a number of users from 1, or a share "
            "above 0% and up to 100%, such as 10%."
        )
    return max(1, math.floor(number / 100 * n_users + 1e-9)) if is_share else int(number)


def paper_seconds(n_users: int, n_combinations: int) -> float:
    """The fixed time of the FairRec paper: 0.005 s for each user and each combination.

    >>> paper_seconds(6040, 294)
    31.67
    """
    return round(0.005 * (n_users + n_combinations), 9)
