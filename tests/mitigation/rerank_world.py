"""Small lists to re-rank, with what a re-ranker may learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.inputs.order import rows_in_order
from fairrec.inputs.side_data import Interactions, read_history
from fairrec.inputs.tables import Table
from fairrec.metrics.ranked import RankedLists
from fairrec.mitigation.reranker import RERANKERS, Reranker, RerankLists, TrainingSet
from tests.metrics.metric_lists import World, ranked_lists


class RerankWorld:
    """A world as re-rankers and metrics see it; user `u` has position `u` everywhere.

    Parameters
    ----------
    group : the group to re-rank each user is in; by default two groups take turns
    rest : what `swap` aims at
    """

    def __init__(
        self,
        world: World,
        k: int = 3,
        group: Sequence[int] | None = None,
        rest: float | None = None,
        threads: int = 1,
    ) -> None:
        self.world = world
        n_users = len(world.users)
        self.ranked = ranked_lists(world.users, world.categories, world.history, 50, threads)
        candidates = self.ranked.candidates
        self.history = history_of(world)
        at = self.history.users_at(pl.Series(range(n_users), dtype=pl.Int64))
        self.group = np.arange(n_users) % 2 if group is None else np.asarray(group)
        self.training = TrainingSet(self.history, rest)
        self.lists = RerankLists(
            offsets=candidates.offsets,
            items=candidates.items,
            scores=candidates.scores,
            by_score=rows_in_order(candidates),
            side=self.ranked.side,
            user=at,
            history_item=self.history.items_at(candidates.item_ids),
            group=self.group,
            k=k,
            threads=threads,
        )

    def build(self, name: str) -> Reranker:
        """The re-ranker, which has learned."""
        return RERANKERS[name].build(self.training)

    def order(self, name: str, strength: float) -> IntArray:
        """The rows of each list in their new order."""
        return self.build(name).orders(self.lists)(strength)

    def ranked_after(self, order: IntArray) -> RankedLists:
        """The lists as metrics see them with the scores of a new order."""
        candidates = replace(self.ranked.candidates, scores=self.lists.scores_in(order))
        return replace(self.ranked, candidates=candidates)

    def rows(self, one: int) -> list[int]:
        """The rows of a list, as they came."""
        return list(range(self.lists.offsets[one], self.lists.offsets[one + 1]))

    def part(self, order: IntArray, one: int) -> list[int]:
        """The rows of a list in an order."""
        return [int(row) for row in order[self.rows(one)]]


def history_of(world: World) -> Interactions:
    """The interactions of a world."""
    table = pl.DataFrame(list(world.history), schema=["user_id", "item_id"], orient="row")
    return read_history(Table(table, "history"))


def mean_of(values: FloatArray) -> float:
    """The mean of what is defined."""
    return float(np.nanmean(values))
