"""Tables -> everything an audit works on, with users in the order of their ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.inputs.candidates import CandidateLists, gather_lists, read_candidates
from fairrec.inputs.columns import check_mapping, refuse_unused
from fairrec.inputs.side import SideData, read_categories, read_popularity
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute, Users, read_users


@dataclass(frozen=True, slots=True)
class AuditInputs:
    """The audited users, their attributes and candidates, and what metrics need.

    Parameters
    ----------
    user_ids : as they came
    list_of_user : (n_users,), which candidate list is the user's
    n_without_predictions : users of the users table who are not audited
    all_users : the users table
    by : the attributes as they were named, with their binning
    columns : other names of columns
    """

    user_ids: pl.Series
    attributes: tuple[Attribute, ...]
    candidates: CandidateLists
    list_of_user: IntArray
    side: SideData
    n_without_predictions: int
    all_users: Users
    by: tuple[str, ...]
    columns: dict[str, str]
    tables: dict[str, Table]

    @property
    def n_users(self) -> int:
        """The number of audited users."""
        return len(self.list_of_user)

    @property
    def user_of_list(self) -> IntArray:
        """(n_lists,), whose each candidate list is."""
        users = np.empty(self.n_users, dtype=np.int64)
        users[self.list_of_user] = np.arange(self.n_users)
        return users

    @property
    def ids_of_lists(self) -> pl.Series:
        """(n_lists,), the id of the user of each candidate list."""
        return self.user_ids.gather(self.user_of_list)

    def everyone(self) -> tuple[pl.Series, tuple[Attribute, ...]]:
        """Ids and attributes of all users of the users table, audited or not.

        Quantiles are those of the audited users, so with such bins only these are given.
        """
        table = self.all_users
        if any(spec.binning and spec.binning.quantiles for spec in table.specs):
            return self.user_ids, self.attributes
        return table.ids, table.attributes(np.arange(len(table.ids)))

    def for_users(self, users: IntArray) -> AuditInputs:
        """The same for some of the users, in rising order."""
        lists = self.list_of_user[users]
        candidates = self.candidates
        scores = gather_lists(candidates.scores, candidates.offsets, lists)
        return replace(
            self,
            user_ids=self.user_ids[users],
            attributes=tuple(replace(a, codes=a.codes[users]) for a in self.attributes),
            candidates=candidates.take(lists, scores),
            list_of_user=np.arange(len(users)),
            side=self.side.for_lists(lists),
        )

    def with_scores(self, scores: FloatArray) -> AuditInputs:
        """The same with other scores of all candidates."""
        return replace(self, candidates=replace(self.candidates, scores=scores))


def open_tables(predictions: Any, given: TableOptions) -> dict[str, Table]:
    """The tables that are given, by name, with their columns found; nothing is read yet."""
    columns = given.columns or {}
    check_mapping(columns)
    sources = {
        "predictions": predictions,
        "users": given.users,
        "items": given.items,
        "history": given.history,
    }
    for name in ("predictions", "users"):
        if sources[name] is None:
            raise InputError(f"The {name} table is missing. Give a path or a table.")
    tables = {
        name: Table(source, name, columns) for name, source in sources.items() if source is not None
    }
    refuse_unused(columns, {name: table.columns for name, table in tables.items()})
    return tables


def read_tables(
    tables: dict[str, Table],
    by: Sequence[str],
    *,
    needs: Collection[str],
    wants: Collection[str] = (),
    reserved: Collection[str] = (),
    has_scores: bool = True,
) -> AuditInputs:
    """Read and check the tables.

    Parameters
    ----------
    tables : as `open_tables` gives them
    needs : what the metrics cannot do without: "labels", "items", "history"
    wants : side data to read where its table is given, whether or not a metric needs it
    reserved : names that no attribute can have
    has_scores : whether the scores are in the table; otherwise a model will give them
    """
    everyone = read_users(tables["users"], by)
    _refuse_clash([spec.name for spec in everyone.specs], {"user_id", *reserved})
    candidates, row_of_list = read_candidates(
        tables["predictions"], everyone.keys, everyone.where, "labels" in needs, has_scores
    )
    with_side = {*needs, *(name for name in wants if name in tables)}
    side = _side_data(tables, with_side, candidates, everyone.keys[row_of_list])
    list_of_user = np.argsort(row_of_list)
    rows = row_of_list[list_of_user]
    return AuditInputs(
        user_ids=everyone.ids[rows],
        attributes=everyone.attributes(rows),
        candidates=candidates,
        list_of_user=list_of_user,
        side=side,
        n_without_predictions=len(everyone.ids) - len(rows),
        all_users=everyone,
        by=tuple(by),
        columns=dict(tables["users"].mapping),
        tables=tables,
    )


def _refuse_clash(attributes: Sequence[str], reserved: Collection[str]) -> None:
    for name in attributes:
        if name in reserved:
            raise InputError(
                f"Attribute '{name}' has the name of a column of the result. "
                "Rename that column of the users table."
            )


def _side_data(
    tables: Mapping[str, Table],
    needs: set[str],
    candidates: CandidateLists,
    user_ids: pl.Series,
) -> SideData:
    """The side data the metrics ask for."""
    categories, popularity, warnings = None, None, []
    if "items" in needs:
        categories, about_items = read_categories(tables["items"], candidates.item_ids)
        warnings += about_items
    if "history" in needs:
        popularity, about_history = read_popularity(
            tables["history"], candidates.item_ids, user_ids
        )
        warnings += about_history
    return SideData(categories, popularity, tuple(warnings))
