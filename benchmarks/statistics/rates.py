"""A rate over worlds that were drawn at random, and the range it is claimed to lie in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something held.

    Parameters
    ----------
    low, high : the range that is claimed
    """

    world: str
    what: str
    n_held: int
    n_worlds: int
    low: float = 0.0
    high: float = 1.0

    @property
    def rate(self) -> float:
        return self.n_held / max(1, self.n_worlds)

    @property
    def error(self) -> float:
        """One binomial standard error."""
        return math.sqrt(self.rate * (1 - self.rate) / max(1, self.n_worlds))

    @property
    def is_met(self) -> bool:
        """Whether the rate lies in the range, up to two standard errors of its bound."""

        def error_at(bound: float) -> float:
            return math.sqrt(bound * (1 - bound) / max(1, self.n_worlds))

        above = self.rate >= self.low - 2 * error_at(self.low)
        return above and self.rate <= self.high + 2 * error_at(self.high)


Rates = Callable[[int], Iterator[Rate]]
"""Takes the number of worlds."""
