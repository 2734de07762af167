"""Recommendations and held-out interactions as plain Python values, and the tables they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

import fairrec
from fairrec.report.audit_result import AuditResult

Form = Literal["score", "rank", "both", "lists", "lists with scores"]
FORMS: tuple[Form, ...] = ("score", "rank", "both", "lists", "lists with scores")


@dataclass(frozen=True)
class Served:
    """What users were given, best first, and what was held out for them.

    Parameters
    ----------
    lists : the items of each user, in order; a user may have none or not be there
    held_out : the gain of each held-out item of a user; a user may not be there
    """

    lists: Mapping[Any, Sequence[Any]]
    held_out: Mapping[Any, Mapping[Any, float]]

    @property
    def users(self) -> list[Any]:
        """Everyone with a list or held-out items, in order."""
        return sorted({*self.lists, *self.held_out})

    def recommendations(self, form: Form = "score") -> pl.DataFrame:
        """The table of lists; users without any item have a row in the forms with lists alone."""
        if form.startswith("lists"):
            items = pl.Series(
                "item_id", [list(items) for items in self.lists.values()], dtype=pl.List(pl.Int64)
            )
            table = pl.DataFrame([pl.Series("user_id", list(self.lists)), items])
            falling = [[-0.5 * i for i in range(len(items))] for items in self.lists.values()]
            scores = pl.Series("score", falling, dtype=pl.List(pl.Float64))
            return table.with_columns(scores) if form == "lists with scores" else table
        rows = [
            (user, item, 10.0 - place, place)
            for user, items in self.lists.items()
            for place, item in enumerate(items, start=1)
        ]
        table = pl.DataFrame(rows, schema=["user_id", "item_id", "score", "rank"], orient="row")
        return table if form == "both" else table.select("user_id", "item_id", form)

    def test(self, graded: bool = True) -> pl.DataFrame:
        """The table of held-out interactions."""
        rows = [
            (user, item, gain)
            for user, items in self.held_out.items()
            for item, gain in items.items()
        ]
        table = pl.DataFrame(rows, schema=["user_id", "item_id", "rating"], orient="row")
        return table if graded else table.drop("rating")

    def audit(self, form: Form = "score", graded: bool = True, **options: Any) -> AuditResult:
        """An audit by one attribute, `group`, without tests against chance unless asked for."""
        users = pl.DataFrame(
            {"user_id": self.users, "group": [f"g{i % 2}" for i in range(len(self.users))]}
        )
        given = {"users": users, "test": self.test(graded), "by": "group", "permutations": 0}
        if graded and not {"relevant", "test"} & {*options}:
            given["gain"] = "rating"
        given = {**given, "max_undefined": 1, "min_support": 1, **options}
        return fairrec.audit(self.recommendations(form), **given)


def random_served(
    seed: int,
    n_users: int = 60,
    n_items: int = 15,
    longest: int = 6,
    share_without_list: float = 0.1,
    share_without_held_out: float = 0.1,
    max_gain: int = 3,
) -> Served:
    """Ragged lists and graded gains; some users lack the one or the other."""
    rng = np.random.default_rng(seed)
    lists: dict[int, list[int]] = {}
    held_out: dict[int, dict[int, float]] = {}
    for user in rng.permutation(n_users).tolist():
        if rng.random() >= share_without_list:
            lists[user] = rng.permutation(n_items)[: rng.integers(1, longest + 1)].tolist()
        if rng.random() >= share_without_held_out or user not in lists:
            chosen = rng.permutation(n_items)[: rng.integers(1, 8)].tolist()
            held_out[user] = {item: float(rng.integers(1, max_gain + 1)) for item in chosen}
    return Served(lists, held_out)
