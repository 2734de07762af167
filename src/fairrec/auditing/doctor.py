"""A model before its audit: one batch, asked again, backwards and in part."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.errors import InputError
from fairrec.inputs.candidates import CandidateLists, read_candidates
from fairrec.inputs.columns import check_mapping
from fairrec.inputs.ids import ids_as_integers_or_text
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.scoring.features import join_features
from fairrec.scoring.model import Model, ModelInput
from fairrec.scoring.scorer import ModelScorer

MOST_USERS = 32
FEW_USERS = 3
SAME = 1e-6
"""Differences below this share of the range of scores are taken for rounding."""


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What one batch showed.

    Parameters
    ----------
    seconds : for the first and the second time the batch was asked
    lowest, highest, n_distinct : of the scores
    again : largest difference when the same batch is asked again
    backwards : when its pairs are asked in the opposite order
    alone : when each of a few users is asked without the others
    faults : what went wrong and was tried again
    """

    n_users: int
    n_pairs: int
    inputs: tuple[ModelInput, ...]
    seconds: tuple[float, float]
    lowest: float
    highest: float
    n_distinct: int
    again: float
    backwards: float
    alone: float
    faults: dict[str, int]

    def problems(self) -> tuple[str, ...]:
        """What would spoil an audit, in words."""
        allowed = SAME * max(self.highest - self.lowest, abs(self.highest), abs(self.lowest))
        is_repeatable = self.again <= allowed
        is_in_order = self.backwards <= allowed
        checks = {
            "all scores are equal, so the lists have no order": (
                self.n_pairs > 1 and self.n_distinct == 1
            ),
            f"the same batch got other scores the second time (by up to {self.again:.3g}): the "
            "result of an audit will not repeat": not is_repeatable,
            f"scores depend on the order of the pairs (by up to {self.backwards:.3g}): they may "
            "not belong to the pairs they were asked for": is_repeatable and not is_in_order,
            f"scores depend on which users are asked together (by up to {self.alone:.3g}): "
            "searches and restarts will differ": (
                is_repeatable and is_in_order and self.alone > allowed
            ),
        }
        return tuple(problem for problem, is_there in checks.items() if is_there)


def examine(
    model: Model,
    predictions: Any,
    users: Any = None,
    items: Any = None,
    columns: Mapping[str, str] | str | None = None,
) -> ModelCheck:
    """Ask a model for one batch, and see what it does.

    Parameters
    ----------
    predictions : candidates, with or without scores
    users, items : needed for features
    """
    given = TableOptions(users=users, items=items, columns=columns)
    check_mapping(given.columns or {})
    sources = {"predictions": predictions, "users": given.users, "items": given.items}
    tables = {
        name: Table(source, name, given.columns)
        for name, source in sources.items()
        if source is not None
    }
    model.open()
    try:
        return examine_lists(model, tables, *first_lists(tables, model.rows_per_call))
    finally:
        model.close()


def first_lists(tables: Mapping[str, Table], most_pairs: int) -> tuple[CandidateLists, pl.Series]:
    """The candidates of the first users of the table, and who they are."""
    table = tables["predictions"]
    # with a users table, ids are sent as that has them, like in an audit
    home = tables.get("users", table)
    given = home.read({"user_id": home.require("user_id")})["user_id"].unique(maintain_order=True)
    keys = ids_as_integers_or_text(given, home.where)
    candidates, user_of_list, _ = read_candidates(
        table, keys, home.where, needs_labels=False, has_scores=False
    )
    ids = (keys if home.is_csv or given.dtype.is_float() else given).gather(user_of_list)
    lengths = np.diff(candidates.offsets)
    has_any = np.flatnonzero(lengths)[:MOST_USERS]
    if not len(has_any):
        raise InputError(
            f"{table.where}: no user has a candidate, so there is nothing to ask the model for. "
            "Give a table with candidates."
        )
    fits = int(np.searchsorted(np.cumsum(lengths[has_any]), most_pairs, side="right"))
    few = has_any[: max(fits, 1)]
    return candidates.take(few, np.empty(0)), ids.gather(few)


def examine_lists(
    model: Model, tables: Mapping[str, Table], candidates: CandidateLists, user_ids: pl.Series
) -> ModelCheck:
    """Ask a model that is open for these lists: twice, backwards, and a few users alone.

    Parameters
    ----------
    tables : where its features come from
    user_ids : (n_lists,)
    """

    def score(lists: CandidateLists, ids: pl.Series) -> ModelScorer:
        features = join_features(model.features, tables, ids, lists.item_ids)
        return ModelScorer(model, lists, ids, features)

    scorer, lists = score(candidates, user_ids), np.arange(len(user_ids))
    times = [time.perf_counter()]
    first = scorer.ask(lists)
    times.append(time.perf_counter())
    second = scorer.ask(lists)
    times.append(time.perf_counter())
    opposite = CandidateLists(
        candidates.offsets[-1] - candidates.offsets[::-1],
        candidates.items[::-1].copy(),
        candidates.scores,
        None,
        candidates.item_ids,
    )
    backwards = score(opposite, user_ids.reverse()).ask(lists)[::-1]
    alone = np.concatenate([scorer.ask(one) for one in lists[:FEW_USERS, None]])
    return ModelCheck(
        n_users=len(user_ids),
        n_pairs=len(first),
        inputs=scorer.inputs,
        seconds=(times[1] - times[0], times[2] - times[1]),
        lowest=float(first.min()),
        highest=float(first.max()),
        n_distinct=len(np.unique(first)),
        again=float(np.abs(first - second).max()),
        backwards=float(np.abs(first - backwards).max()),
        alone=float(np.abs(first[: len(alone)] - alone).max()),
        faults=model.faults(),
    )
