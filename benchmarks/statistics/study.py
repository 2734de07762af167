"""Many worlds of one kind, each looked at in the same way."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.statistics.rates import Claim, Rate

Outcome = tuple[float, float]
"""How often something held in a world, and how often it could have."""
Trial = Callable[[int], Mapping[str, Outcome]]
"""Seed -> the outcome of each claim in the world it draws."""


@dataclass(frozen=True, slots=True)
class Study:
    """A kind of world, what is looked at in each, and what is claimed of all.

    Parameters
    ----------
    trial : claims are named by what they count
    """

    world: str
    trial: Trial
    claims: tuple[Claim, ...]

    def outcomes(self, first: int, n_worlds: int) -> list[list[Outcome]]:
        """For each claim its outcomes in so many worlds, from a number on.

        The seeds are the study's own, so that its luck is not that of another one, and none
        that a constant was chosen on.
        """
        start = zlib.crc32(f"held out: {self.world}".encode())
        numbers = range(first, first + n_worlds)
        found = [self.trial((start + number) % 2**32) for number in numbers]
        return [[one[claim.what] for one in found] for claim in self.claims]

    def rates(self, n_worlds: int, first: int = 0) -> list[Rate]:
        """The rate of each claim."""
        outcomes = self.outcomes(first, n_worlds)
        return [Rate(self.world, *pair) for pair in zip(self.claims, outcomes, strict=True)]


def happened(is_so: bool) -> Outcome:
    """What can hold once in a world."""
    return float(is_so), 1.0
