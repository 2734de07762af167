"""How often to ask again after a fault, and how long to wait before it."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")
LONGEST_RETRY_AFTER = 600.0
"""Seconds; a server that asks for more is given up on for now."""


class Fault(Exception):  # noqa: N818 - not yet an error
    """What may be gone at the next attempt."""

    def __init__(self, kind: str, words: str, wait: float | None = None, busy: bool = False):
        self.kind, self.words, self.wait, self.is_busy = kind, words, wait, busy


@dataclass(frozen=True, slots=True)
class Patience:
    """How a client waits.

    Parameters
    ----------
    retries : attempts after the first
    timeout : seconds for one call as a whole
    first_wait, longest_wait : seconds before the second attempt, and before later ones at most
    """

    retries: int
    timeout: float
    first_wait: float
    longest_wait: float

    def back_off(self, attempt: int) -> float:
        """Seconds to wait after so many attempts: doubled each time, less a random part.

        The random part, up to a half, keeps calls that failed together from coming back together.
        """
        longest = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1))
        return longest * random.uniform(0.5, 1.0)


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a server asks to wait, from a number or a date; None where it does not say.

    >>> retry_after("3"), retry_after("1.5"), retry_after("soon"), retry_after(None)
    (3.0, 1.5, None, None)
    """
    if header is None:
        return None
    text = header.strip()
    if _NUMBER.fullmatch(text):
        return max(0.0, float(text))
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError, TypeError, IndexError):
        # what is no date fails in the parts of the standard library in different ways
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())
