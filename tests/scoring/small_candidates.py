"""Candidate lists of a few users, and a function that scores them and notes whom it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.ids import encode

NO_SCORES = np.empty(0)


def candidates_of(
    items_of_user: Mapping[Any, Sequence[Any]],
) -> tuple[CandidateLists, pl.Series]:
    """Candidate lists without scores, and the users they belong to."""
    lists = list(items_of_user.values())
    items, item_ids = encode(pl.Series([item for items in lists for item in items]))
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return CandidateLists(offsets, items, NO_SCORES, None, item_ids), pl.Series(list(items_of_user))


def many_candidates(n_users: int, seed: int = 0) -> tuple[CandidateLists, pl.Series]:
    """Users `u0`, `u1`, ... with 0 to 6 of twenty items each."""
    rng = np.random.default_rng(seed)
    return candidates_of(
        {
            f"u{user}": rng.permutation(20)[: 0 if user % 13 == 5 else rng.integers(1, 7)].tolist()
            for user in range(n_users)
        }
    )


class NotedFunction:
    """Scores that tell users and items apart; remembers the users of each call."""

    def __init__(self, fails_at_call: int | None = None) -> None:
        self.calls: list[list[Any]] = []
        self.fails_at_call = fails_at_call

    def __call__(self, user_ids: AnyArray, item_ids: AnyArray) -> FloatArray:
        if len(self.calls) == self.fails_at_call:
            raise ConnectionError("the service went away")
        self.calls.append(list(dict.fromkeys(user_ids.tolist())))
        return np.array([score_of(u, i) for u, i in zip(user_ids, item_ids, strict=True)])

    @property
    def asked(self) -> list[Any]:
        """All users, once for each time they were asked for."""
        return [user for call in self.calls for user in call]


def score_of(user: Any, item: Any) -> float:
    """A number for a pair that is the same in every process."""
    return float(np.sin(sum(str(user).encode()) * 7.3 + sum(str(item).encode()) * 1.7))
