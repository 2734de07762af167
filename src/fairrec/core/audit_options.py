"""The options of an audit and what is asked of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from fairrec.core.errors import InputError
from fairrec.core.threads import available_threads

MOST_PERMUTATIONS = 10_000_000
MOST_TOP = 1000


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """How an audit is done.

    Parameters
    ----------
    depth : every combination of up to so many attributes, or "full" for full combinations only
    min_support : share of users below 1, number of users from 1
    permutations : how often attributes are dealt out anew; 0 for no tests
    alpha : where attributes have nothing to do with the values, an audit has findings with at
        most this probability
    correction : "max" bounds the chance of any false finding, "bh" the share of false ones
    top : how many of the best and of the worst served full combinations to name
    """

    depth: int | Literal["full"] = 3
    min_support: float = 0.001
    permutations: int = 1000
    alpha: float = 0.05
    correction: Literal["max", "bh"] = "max"
    seed: int = 0
    threads: int | None = None
    top: int = 1

    def __post_init__(self) -> None:
        whole = isinstance(self.depth, int) and self.depth >= 1
        _require(whole or self.depth == "full", "depth", self.depth, "a number from 1, or 'full'")
        share_or_count = 0 < self.min_support < math.inf and (
            self.min_support < 1 or self.min_support == int(self.min_support)
        )
        _require(
            share_or_count,
            "min_support",
            self.min_support,
            "a share between 0 and 1 (0.001) or a number of users (50)",
        )
        few = 0 <= self.permutations <= MOST_PERMUTATIONS
        _require(few, "permutations", self.permutations, f"0 to {MOST_PERMUTATIONS:,}")
        _require(0 < self.alpha < 1, "alpha", self.alpha, "a number between 0 and 1")
        _require(self.correction in ("max", "bh"), "correction", self.correction, "'max' or 'bh'")
        _require(0 <= self.seed < 2**32, "seed", self.seed, f"0 to {2**32 - 1}")
        _require(1 <= self.top <= MOST_TOP, "top", self.top, f"1 to {MOST_TOP:,}")
        _require(self.threads is None or self.threads >= 1, "threads", self.threads, "1 or more")

    def min_users(self, n_users: int) -> int:
        """The smallest number of users a group must have.

        >>> AuditOptions(min_support=0.001).min_users(6038)
        7
        """
        if self.min_support >= 1:
            return int(self.min_support)
        # 0.001 * 267,000 is a hair above 267 in binary
        return max(1, math.ceil(self.min_support * n_users - 1e-9))

    @property
    def lattice_depth(self) -> int | None:
        """The most attributes combined; None for full combinations only."""
        return None if self.depth == "full" else self.depth

    @property
    def n_threads(self) -> int:
        """Threads to use."""
        return self.threads or available_threads()


def _require(holds: bool, name: str, value: object, allowed: str) -> None:
    if not holds:
        option = name.replace("_", "-")
        raise InputError(f"--{option} {value} is not possible. Give {allowed}.")
