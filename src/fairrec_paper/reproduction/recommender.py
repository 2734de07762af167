"""A recommender in memory, and the scorer that a search asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.demo.held_out import NegativeSampler
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.flat_lists import gather_lists
from fairrec.inputs.ids import known_positions
from fairrec_paper.datasets.bundle import Bundle

ScorePairs = Callable[[IntArray, AnyArray], FloatArray]
"""Positions of users and of items -> one score for each pair."""


WHOLE_CATALOGUE = "all"
"""As a number of candidates: every item the user never interacted with, and the target."""


@dataclass(frozen=True, slots=True)
class Recommender:
    """A recommender in memory.

    Parameters
    ----------
    candidates, validation : `user_id, item_id, label`, one row a user, for both targets
    user_ids, item_ids : in the order of the positions that `score` takes
    tables : what an audit needs besides
    """

    score: ScorePairs
    candidates: pl.DataFrame
    validation: pl.DataFrame
    user_ids: pl.Series
    item_ids: pl.Series
    tables: dict[str, Any]

    def predictions(self, target: Literal["test", "validation"] = "test") -> pl.DataFrame:
        """`user_id, item_id, label, score`, one row a candidate."""
        lists = self.candidates if target == "test" else self.validation
        rows = lists.explode("item_id", "label")
        users = known_positions(rows["user_id"], self.user_ids)
        items = known_positions(rows["item_id"], self.item_ids)
        return rows.with_columns(pl.Series("score", self.score(users, items)))


class PositionScorer:
    """A scorer that looks ids up once, so that the time of a test is that of the model."""

    def __init__(self, recommender: Recommender, inputs: AuditInputs) -> None:
        self._score = recommender.score
        self._candidates = inputs.candidates
        user_ids = inputs.ids_of_lists
        self._user_at = known_positions(user_ids, recommender.user_ids)
        self._item_at = known_positions(inputs.candidates.item_ids, recommender.item_ids)

    def ask(self, lists: IntArray) -> FloatArray:
        """The scores of all candidates of these lists, one list after the other."""
        offsets = self._candidates.offsets
        users = np.repeat(self._user_at[lists], offsets[lists + 1] - offsets[lists])
        items = self._item_at[gather_lists(self._candidates.items, offsets, lists)]
        return self._score(users, items)


def recommender_of_run(folder: Path) -> Recommender:
    """The model of a finished run, loaded."""
    from fairrec_paper.models.deep.score import score_pairs
    from fairrec_paper.models.runs.run import load_run

    run = load_run(folder, "auto")
    return Recommender(
        score=lambda users, items: score_pairs(run.model, users, items),
        candidates=run.candidates(),
        validation=run.candidates("validation"),
        user_ids=run.users["user_id"],
        item_ids=run.items["item_id"],
        tables=run.tables(),
    )


def recommender_by_taste(bundle: Bundle, seed: int) -> Recommender:
    """Popularity and taste, without training."""
    from fairrec_paper.models.deep.training_data import training_data
    from fairrec_paper.models.taste import Taste

    data = training_data(bundle, seed=seed)

    return Recommender(
        score=Taste(bundle, data.history).score,
        candidates=data.test.table(bundle.users, bundle.items),
        validation=data.validation.table(bundle.users, bundle.items),
        user_ids=bundle.users["user_id"],
        item_ids=bundle.items["item_id"],
        tables={
            "users": bundle.users,
            "items": bundle.items if bundle.has_categories else None,
            "history": data.history,
            "by": bundle.manifest.attributes,
        },
    )


def with_candidates(
    recommender: Recommender, bundle: Bundle, n: int | str, seed: int
) -> Recommender:
    """The recommender with so many candidates for each test target, itself included.

    Parameters
    ----------
    n : a number, or `WHOLE_CATALOGUE`
    """
    targets = recommender.candidates.explode("item_id", "label").filter(pl.col("label") > 0)
    user_ids, item_ids = bundle.users["user_id"], bundle.items["item_id"]
    users = known_positions(targets["user_id"], user_ids)
    wanted = known_positions(targets["item_id"], item_ids)
    sampler = NegativeSampler(
        known_positions(bundle.interactions["user_id"], user_ids),
        known_positions(bundle.interactions["item_id"], item_ids),
        len(user_ids),
        len(item_ids),
    )
    rng = np.random.default_rng([seed, 5])
    if isinstance(n, str):
        others = [sampler.free(user) for user in users]
    else:
        others = [*sampler.draw_lists(users, n - 1, rng)]
    # in random order, so that no tie is to the target's advantage
    lists = [
        rng.permutation(np.append(own, target)) for own, target in zip(others, wanted, strict=True)
    ]
    lengths = [len(own) for own in lists]
    flat = np.concatenate(lists)
    rows = pl.DataFrame(
        {
            "user_id": targets["user_id"].gather(np.repeat(np.arange(len(lists)), lengths)),
            "item_id": item_ids.gather(flat),
            "label": (flat == np.repeat(wanted, lengths)).astype(np.int8),
        }
    )
    return replace(recommender, candidates=rows.group_by("user_id", maintain_order=True).all())
