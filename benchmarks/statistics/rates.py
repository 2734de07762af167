"""A rate over worlds that were drawn at random, and the range it is claimed to lie in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """What is counted in a world, and what is claimed of it over all worlds.

    Parameters
    ----------
    low, high : the range of the rate; None where nothing is claimed
    before : what it was when these worlds were first drawn
    is_ratio : whether two sizes are compared, instead of counting how often something held
    """

    what: str
    low: float | None = None
    high: float | None = None
    before: str = ""
    is_ratio: bool = False

    @property
    def bar(self) -> str:
        """The range in words."""
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        if self.low is not None:
            return f">= {self.low:g}"
        return "" if self.high is None else f"<= {self.high:g}"


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something held.

    Parameters
    ----------
    outcomes : in each world, how often it held and how often it could have
    """

    world: str
    claim: Claim
    outcomes: Sequence[tuple[float, float]]

    @property
    def n_counted(self) -> float:
        """How often it could have held."""
        return sum(of for _, of in self.outcomes)

    @property
    def rate(self) -> float:
        return sum(held for held, _ in self.outcomes) / (self.n_counted or math.nan)

    @property
    def error(self) -> float:
        """One standard error: binomial where each world counts once.

        What is counted several times in one world may go together, so that worlds are what varies.
        """
        rate = self.rate
        squares = sum((held - rate * of) ** 2 for held, of in self.outcomes)
        return math.sqrt(squares) / (self.n_counted or math.nan)

    @property
    def is_met(self) -> bool | None:
        """Whether the rate lies in the range, up to two standard errors; None without a claim."""
        claim = self.claim
        if (claim.low is None and claim.high is None) or math.isnan(self.rate):
            return None
        is_above = claim.low is None or self.rate >= claim.low - 2 * self._error_at(claim.low)
        is_below = claim.high is None or self.rate <= claim.high + 2 * self._error_at(claim.high)
        return is_above and is_below

    def _error_at(self, bound: float) -> float:
        """The standard error if the rate were the bound."""
        if self.claim.is_ratio:
            return self.error
        spread = self.rate * (1 - self.rate)
        n_independent = spread / self.error**2 if self.error > 0 else self.n_counted
        return math.sqrt(bound * (1 - bound) / n_independent)

    def __str__(self) -> str:
        before = f" (was {self.claim.before})" if self.claim.before else ""
        return f"{self.rate:.3g} +- {self.error:.2g}{before}"
