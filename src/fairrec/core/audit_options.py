"""The options of an audit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from fairrec.core.kinds import number, one_of, share_or_users, whole
from fairrec.core.options import GROUPS, STATISTICS, Option, Options
from fairrec.core.threads import available_threads

Depth = Annotated[
    int | Literal["full"],
    Option(
        whole(1).or_word("full"),
        "Every combination of up to so many attributes; 'full' for intersections of all alone",
        GROUPS,
    ),
]
MinSupport = Annotated[
    float,
    Option(
        share_or_users(), "Smallest group: a share of users (0.001, 1%), or a number from 1", GROUPS
    ),
]
Top = Annotated[
    int,
    Option(
        whole(1, 1000),
        "How many of the best and of the worst served intersections of all attributes to name",
        GROUPS,
    ),
]
Permutations = Annotated[
    int,
    Option(
        whole(0, 10_000_000),
        "How often values are shuffled across users; 0 for no tests",
        STATISTICS,
    ),
]
Alpha = Annotated[float, Option(number(above=0, below=1), "Significance level", STATISTICS)]
Correction = Annotated[
    Literal["max", "bh"],
    Option(
        one_of("max", "bh"),
        "What alpha bounds. max: the family-wise error rate (Westfall-Young); bh: the false "
        "discovery rate (Benjamini-Hochberg)",
        STATISTICS,
    ),
]
MaxUndefined = Annotated[
    float,
    Option(
        number(least=0, most=1),
        "Share of users without a value from which nothing found is no all-clear",
        STATISTICS,
    ),
]
Seed = Annotated[int, Option(whole(0, 2**32 - 1), "Same seed, same numbers", STATISTICS)]
Threads = Annotated[
    int | None, Option(whole(1).or_none(), "Threads to use", STATISTICS, default="all cores")
]


@dataclass(frozen=True)
class AuditOptions(Options):
    """How an audit is done."""

    depth: Depth = 3
    min_support: MinSupport = 0.001
    permutations: Permutations = 1000
    alpha: Alpha = 0.05
    correction: Correction = "max"
    max_undefined: MaxUndefined = 0.05
    seed: Seed = 0
    threads: Threads = None
    top: Top = 1

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
