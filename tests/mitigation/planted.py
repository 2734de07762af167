"""Worlds to mitigate: one group served worse by construction, or scores of pure noise."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

import fairrec
from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.mitigation.result import MitigationResult
from tests.grouped_options import group_options

N_BLOCKS = 4
N_ITEMS = 48
WORSE = {"gender": "F", "age": "old"}


class Planted(NamedTuple):
    """The tables of a mitigation, with two sets of targets."""

    predictions: pl.DataFrame
    validation: pl.DataFrame
    users: pl.DataFrame
    items: pl.DataFrame
    history: pl.DataFrame

    @property
    def is_worse(self) -> list[bool]:
        """Whether each user of the users table is in the group served worse."""
        rows = self.users.select(*WORSE).iter_rows(named=True)
        return [row == WORSE for row in rows]


def planted(
    worse: Literal["accuracy", "diversity", "noise"] = "accuracy",
    n_users: int = 240,
    seed: int = 0,
    n_candidates: int = 12,
) -> Planted:
    """Users like one of four blocks of items; a target is an item of their block.

    Parameters
    ----------
    worse : "accuracy", the model knows nothing of the targets of old women; "diversity", it gives
        them items of one category first; "noise", it knows nothing of anyone's targets
    """
    rng = np.random.default_rng(seed)
    users = pl.DataFrame(
        {
            "user_id": np.arange(n_users),
            "gender": np.where(np.arange(n_users) % 2 == 0, "F", "M"),
            "age": np.array(["old", "young", "middle"])[np.arange(n_users) // 2 % 3],
        }
    )
    items = pl.DataFrame(
        {
            "item_id": np.arange(N_ITEMS),
            "categories": [
                [f"kind{item % 5}", f"block{item % N_BLOCKS}"] for item in range(N_ITEMS)
            ],
        }
    )
    is_worse = ((users["gender"] == "F") & (users["age"] == "old")).to_list()
    history, parts = [], ([], [])
    for user in range(n_users):
        block = int(rng.integers(N_BLOCKS))
        own = rng.permutation(np.arange(block, N_ITEMS, N_BLOCKS))
        history += [(user, int(item)) for item in own[:6]]
        others = [item for item in range(N_ITEMS) if item % N_BLOCKS != block]
        for part, target in zip(parts, own[6:8], strict=True):
            chosen = [int(target), *rng.permutation(others)[: n_candidates - 1].tolist()]
            scores = rng.normal(size=n_candidates)
            if worse == "diversity" and is_worse[user]:
                scores += [3 * (item % 5 == chosen[0] % 5) for item in chosen]
            elif worse != "noise" and not is_worse[user]:
                scores[0] += 2
            for at in rng.permutation(n_candidates):
                part.append((user, chosen[at], float(scores[at]), int(at == 0)))
    names = ["user_id", "item_id", "score", "label"]
    predictions, validation = (pl.DataFrame(part, schema=names, orient="row") for part in parts)
    pairs = pl.DataFrame(history, schema=["user_id", "item_id"], orient="row")
    return Planted(predictions, validation, users, items, pairs)


def mitigate(world: Planted, metric: str, **options: Any) -> MitigationResult:
    """A mitigation of the worst full intersection of any size, without tests against chance."""
    given = {
        "users": world.users,
        "by": "gender,age",
        "items": world.items,
        "history": world.history,
        "validation": world.validation,
        "groups": "worst:1",
        "min_support": 1,
        "permutations": 0,
        "threads": 1,
        **options,
    }
    return fairrec.mitigate(
        given.pop("predictions", world.predictions), **group_options(metric=metric, **given)
    )


def attributes_of(codes, n_values=(2, 3)) -> list[Attribute]:
    """`a` with values a0 and a1, `b` with values b0, b1 and b2."""
    return [
        Attribute(name, np.asarray(column, dtype=np.int32), tuple(f"{name}{v}" for v in range(n)))
        for name, column, n in zip("ab", codes, n_values, strict=True)
    ]


def full_grouping(attributes: list[Attribute], min_users: int = 1) -> Grouping:
    """Their intersections with enough users."""
    return Grouping.of(
        attributes, AuditOptions(depth="full", min_support=min_users, engine=Engine(threads=1))
    )
