"""A re-ranker that has learned: candidate lists of some groups -> new scores."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.core.options import spell
from fairrec.core.version import __version__
from fairrec.groups.group import group_of_users
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.ids import gather_lists
from fairrec.inputs.order import rows_in_order
from fairrec.inputs.side_data import Categories, find_leak, read_categories, read_history
from fairrec.metrics.parsing import DEFAULT_K
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.reranker import RERANKERS, Orders, Reranker, RerankLists, TrainingSet
from fairrec.mitigation.result import RerankerRecord
from fairrec.mitigation.splitting import Choice
from fairrec.mitigation.tuning import Aim


def build_record(
    plan: MitigationOptions, by: tuple[str, ...], choice: Choice, aim: Aim
) -> RerankerRecord:
    """The re-ranker of a mitigation, of no strength yet."""
    target = plan.target
    is_aim = target.metric.name in RERANKERS[plan.reranker_name].serves
    # a mean that takes labels to know is nothing a re-ranker may aim at
    has_rest = is_aim and "labels" not in target.metric.needs and not np.isnan(aim.rest)
    return RerankerRecord(
        fairrec_version=__version__,
        reranker=plan.reranker_name,
        strength=0.0,
        metric=target.name,
        k=target.k or DEFAULT_K,
        by=by,
        groups=tuple(group.as_dict() for group in choice.groups),
        rest=aim.rest if has_rest else None,
    )


class FittedReranker:
    """A re-ranker that has learned from the history, for some groups.

    Parameters
    ----------
    record : the re-ranker and its groups; its strength is not looked at
    inputs : the users whose groups and history it may learn from; their labels are not looked at
    """

    def __init__(self, record: RerankerRecord, inputs: AuditInputs, threads: int = 1) -> None:
        kind = RERANKERS[record.reranker]
        self._record = record
        self._sees_labels = kind.is_upper_bound
        self._threads = threads
        tables = inputs.tables
        for need in ("items", "history"):
            if need in kind.needs and need not in tables:
                raise InputError(
                    f"The re-ranker '{record.reranker}' needs the {need} table. Give it as "
                    f"{spell(need)}."
                )
        if self._sees_labels and inputs.candidates.labels is None:
            raise InputError(
                f"The re-ranker '{record.reranker}' needs labels. Give a table with a label column."
            )
        self._history = read_history(tables["history"]) if "history" in tables else None
        self._reranker = self._learn(inputs)

    def rescore(self, inputs: AuditInputs, group_of_user: IntArray | None = None) -> Rescored:
        """Scores of these lists at any strength.

        Parameters
        ----------
        group_of_user : (n_users,), position of the group of each user to re-rank, -1 for others;
            by default as the record says
        """
        if group_of_user is None:
            group_of_user = group_of_users(self._record.parsed_groups, inputs.attributes)
        users = np.flatnonzero(group_of_user >= 0)
        if not len(users):
            return Rescored(inputs.candidates.scores, None)
        lists = self._lists(inputs, users, group_of_user[users])
        offsets = inputs.candidates.offsets
        rows = gather_lists(np.arange(offsets[-1]), offsets, inputs.list_of_user[users])
        return Rescored(inputs.candidates.scores, (rows, lists, self._reranker.orders(lists)))

    def find_leak(self, inputs: AuditInputs) -> str:
        """What to check where the history holds what is relevant; empty where it does not."""
        if self._history is None:
            return ""
        where = inputs.tables["history"].where
        return find_leak(self._history, inputs.candidates, inputs.ids_of_lists, where)

    def _learn(self, inputs: AuditInputs) -> Reranker:
        record, history, kind = self._record, self._history, RERANKERS[self._record.reranker]
        categories: Categories | None = None
        group_of_user = _nowhere(0)
        if history is not None:
            # of all users, not only those with lists here, or a batch would change what is learned
            user_ids, attributes = inputs.everyone()
            at = history.users_at(user_ids)
            group_of_user = _nowhere(len(history.user_ids))
            group_of_user[at[at >= 0]] = group_of_users(record.parsed_groups, attributes)[at >= 0]
            if {"items", "history"} <= kind.needs:
                categories, _ = read_categories(inputs.tables["items"], history.item_ids)
        return kind.build(
            TrainingSet(history, categories, group_of_user, len(record.groups), record.rest)
        )

    def _lists(self, inputs: AuditInputs, users: IntArray, groups: IntArray) -> RerankLists:
        """The lists of some users, as a re-ranker sees them."""
        part = inputs.for_users(users)
        candidates, history = part.candidates, self._history
        at_user, at_item = _nowhere(len(users)), _nowhere(len(candidates.item_ids))
        if history is not None:
            at_user = history.users_at(part.user_ids)
            at_item = history.items_at(candidates.item_ids)
        return RerankLists(
            offsets=candidates.offsets,
            items=candidates.items,
            scores=candidates.scores,
            by_score=rows_in_order(candidates),
            side=part.side,
            user=at_user,
            history_item=at_item,
            group=groups,
            k=self._record.k,
            threads=self._threads,
            labels=candidates.labels if self._sees_labels else None,
        )


class Rescored:
    """Scores of all candidates with some lists re-ranked.

    Parameters
    ----------
    model : (n_rows,), the model's scores
    part : the rows of the lists to re-rank, these lists, and their orders; None without any
    """

    def __init__(
        self, model: FloatArray, part: tuple[IntArray, RerankLists, Orders] | None
    ) -> None:
        self._model = model
        self._part = part

    def at(self, strength: float) -> FloatArray:
        """(n_rows,), the model's own scores at strength 0 and for everyone else."""
        if strength == 0 or self._part is None:
            return self._model
        rows, lists, orders = self._part
        scores = self._model.copy()
        scores[rows] = lists.scores_in(orders(strength))
        return scores


def _nowhere(n: int) -> IntArray:
    return np.full(n, -1, dtype=np.int64)
