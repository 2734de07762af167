"""Candidate lists of chosen groups -> new scores, for a mitigation and for new lists."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError, plain
from fairrec.groups.membership import group_of_users, refuse_empty
from fairrec.inputs.audit_inputs import AuditInputs, read_inputs
from fairrec.inputs.candidates import gather_lists
from fairrec.inputs.history import read_history
from fairrec.inputs.side import Categories, read_categories
from fairrec.mitigation import RERANKERS
from fairrec.mitigation.lists import RerankLists
from fairrec.mitigation.record import RerankerRecord, load_record
from fairrec.mitigation.reranker import Orders, Reranker, Training


class Remedy:
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
                    f"The re-ranker '{record.reranker}' needs the {need} table. Give --{need} FILE."
                )
        if self._sees_labels and inputs.candidates.labels is None:
            raise InputError(
                f"The re-ranker '{record.reranker}' needs labels. Give a table with a label column."
            )
        self._history = read_history(tables["history"]) if "history" in tables else None
        groups = record.all_groups
        # a group may be raised where the strength is tuned and lowered in the end: learned once
        self._learned_as = np.array([groups.index(group) for group in groups], dtype=np.int64)
        self._reranker = self._learn(inputs, kind.needs)

    def scores_of(self, inputs: AuditInputs, group_of_user: IntArray | None = None) -> Rescored:
        """Scores of these lists at any strength.

        Parameters
        ----------
        group_of_user : (n_users,), position of the group of each user to re-rank, -1 for others;
            by default as the record says
        """
        if group_of_user is None:
            group_of_user = group_of_users(self._record.all_groups, inputs.attributes)
        n_raised = len(self._record.groups)
        parts = []
        for is_worse in (False, True):
            is_mine = (group_of_user >= 0) & ((group_of_user >= n_raised) == is_worse)
            users = np.flatnonzero(is_mine)
            if len(users):
                groups = self._learned_as[group_of_user[users]]
                lists = self._lists(inputs, users, groups, is_worse)
                rows = _rows_of(inputs, users)
                parts.append((rows, lists, self._reranker.orders(lists)))
        return Rescored(inputs.candidates.scores, parts)

    def _learn(self, inputs: AuditInputs, needs: frozenset[str]) -> Reranker:
        record, history = self._record, self._history
        group_of_user = np.full(0 if history is None else len(history.user_ids), -1)
        categories: Categories | None = None
        if history is not None:
            # of all users, not only those with lists here, or a batch would change what is learned
            user_ids, attributes = inputs.everyone()
            at = history.users_at(user_ids)
            known = at >= 0
            groups = group_of_users(record.all_groups, attributes)
            group_of_user[at[known]] = groups[known]
            if {"items", "history"} <= needs:
                categories, _ = read_categories(inputs.tables["items"], history.item_ids)
        training = Training(history, categories, group_of_user, len(record.all_groups), record.rest)
        return RERANKERS[record.reranker].build(training)

    def _lists(
        self, inputs: AuditInputs, users: IntArray, groups: IntArray, is_worse: bool
    ) -> RerankLists:
        """The lists of some users, as a re-ranker sees them."""
        part = inputs.for_users(users)
        candidates, history = part.candidates, self._history
        return RerankLists(
            offsets=candidates.offsets,
            items=candidates.items,
            scores=candidates.scores,
            side=part.side,
            user=_nowhere(len(users)) if history is None else history.users_at(part.user_ids),
            history_item=(
                _nowhere(len(candidates.item_ids))
                if history is None
                else history.items_at(candidates.item_ids)
            ),
            group=groups,
            k=self._record.k,
            is_worse=is_worse,
            threads=self._threads,
            labels=candidates.labels if self._sees_labels else None,
        )


class Rescored:
    """Scores of all candidates with some lists re-ranked.

    Parameters
    ----------
    model : (n_rows,), the model's scores
    parts : the rows of some lists, these lists, and their orders
    """

    def __init__(
        self, model: FloatArray, parts: list[tuple[IntArray, RerankLists, Orders]]
    ) -> None:
        self._model = model
        self._parts = parts

    def at(self, strength: float) -> FloatArray:
        """(n_rows,), the model's own scores at strength 0 and for everyone else."""
        if strength == 0:
            return self._model
        scores = self._model.copy()
        for rows, lists, orders in self._parts:
            scores[rows] = lists.scores_in(orders(strength))
        return scores


def rerank(
    record: str | Path | RerankerRecord,
    predictions: Any,
    *,
    users: Any,
    items: Any = None,
    history: Any = None,
    columns: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> pl.DataFrame:
    """New candidate lists with the groups of a re-ranker re-ranked.

    Parameters
    ----------
    record : `reranker.json`, as a mitigation wrote it
    predictions : `user_id, item_id, score`; a label is handed through and not looked at

    Returns
    -------
    the table with new scores, one row a candidate, and `model_score`, the score as it was
    """
    record = record if isinstance(record, RerankerRecord) else load_record(record)
    kind = RERANKERS[record.reranker]
    if kind.is_upper_bound:
        raise InputError(
            f"The re-ranker '{record.reranker}' sees the labels, so it is an upper bound and no "
            "remedy: it cannot be applied to new lists."
        )
    inputs = read_inputs(
        predictions,
        users=users,
        by=record.by,
        items=items,
        history=history,
        metrics=(),
        columns=columns,
        wants=("items", "history"),
        may_lack_metrics=True,
    )
    _refuse_other_quantiles(record, inputs)
    _, attributes = inputs.everyone()
    if (group_of_users(record.all_groups, attributes) < 0).all():
        refuse_empty(record.all_groups, attributes, inputs.tables["users"].where)
    remedy = Remedy(record, inputs, AuditOptions(threads=threads).n_threads)
    scores = remedy.scores_of(inputs).at(record.strength)
    return predictions_table(inputs, scores, with_model_score=True)


def predictions_table(
    inputs: AuditInputs, scores: FloatArray, with_model_score: bool = False
) -> pl.DataFrame:
    """`user_id, item_id, score, label`, one row a candidate, in the order they came."""
    candidates = inputs.candidates
    user_of_list = np.empty(inputs.n_users, dtype=np.int64)
    user_of_list[inputs.list_of_user] = np.arange(inputs.n_users)
    users = np.repeat(user_of_list, np.diff(candidates.offsets))
    columns = {
        "user_id": inputs.user_ids.gather(users),
        "item_id": candidates.item_ids.gather(candidates.items),
        "score": pl.Series(scores),
    }
    if candidates.labels is not None:
        columns["label"] = pl.Series(candidates.labels)
    if with_model_score:
        columns["model_score"] = pl.Series(candidates.scores)
    return pl.DataFrame(columns)


def _refuse_other_quantiles(record: RerankerRecord, inputs: AuditInputs) -> None:
    """An error where a group's quantile is none of these users, so that nobody could be in it."""
    for attribute in inputs.attributes:
        if not attribute.binning or "quantiles" not in attribute.binning:
            continue
        known = {str(value) for value in attribute.values}
        for group in record.all_groups:
            if str(group.as_dict().get(attribute.name, attribute.values[0])) not in known:
                raise InputError(
                    f"Attribute '{plain(attribute.name)}' falls into other quantiles for these "
                    "users than for those of the mitigation. Mitigate with bins of a width "
                    "(age:10), or give the same users."
                )


def _rows_of(inputs: AuditInputs, users: IntArray) -> IntArray:
    """The rows of the candidates of some users."""
    offsets = inputs.candidates.offsets
    return gather_lists(np.arange(offsets[-1]), offsets, inputs.list_of_user[users])


def _nowhere(n: int) -> IntArray:
    return np.full(n, -1, dtype=np.int64)
