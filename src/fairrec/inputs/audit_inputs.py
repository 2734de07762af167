"""Tables -> everything an audit works on, with users in the order of their ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.audited_entity import USERS, Unit
from fairrec.core.errors import InputError, listed
from fairrec.core.options import Blank, spell
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.columns import check_mapping, refuse_unused
from fairrec.inputs.ids import gather_lists
from fairrec.inputs.notes import Note, Notes, in_words
from fairrec.inputs.order import TiedLists
from fairrec.inputs.side_data import (
    SideData,
    read_categories,
    read_item_columns,
    read_popularity,
    read_user_profiles,
)
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.user_lists import (
    lists_and_held_out,
    lists_of_values,
    lists_with_labels,
    read_other_lists,
)
from fairrec.inputs.users import Attribute, Users, read_users

MeasuredBy = Literal["candidates", "recommendations", "values"]
"""What users were measured by: scored candidates, recommendations and held-out items, or numbers
that somebody else measured."""


@dataclass(frozen=True, slots=True)
class InputMetadata:
    """Who was audited, and how the tables were read.

    Parameters
    ----------
    tables : those that were read, by the parts they play
    by, given : attributes and circumstances as they were named, with their binning
    columns : other names of columns
    attributes, circumstances : of the audited users
    warnings : what the reader should know
    measured_by : None where another tool has counted users, and nobody knows
    gain : the column by which held-out items are weighed
    is_pandas : whether results go out as frames of pandas
    unit : what has one value each, and what `n_users` counts
    unit_column : of the items, that it was made by; empty for users and items themselves
    ties : None where nothing is ranked, or scores are not at hand
    """

    tables: Mapping[str, Table]
    n_users: int
    n_candidates: int
    by: tuple[str, ...]
    given: tuple[str, ...]
    columns: dict[str, str]
    relevant: str | None
    missing_lists: Literal["zero", "drop"]
    attributes: tuple[Attribute, ...]
    circumstances: tuple[Attribute, ...]
    warnings: tuple[str, ...]
    measured_by: MeasuredBy | None
    gain: str | None = None
    is_pandas: bool = False
    unit: Unit = USERS
    unit_column: str = ""
    ties: TiedLists | None = None


@dataclass(frozen=True, slots=True)
class AuditInputs:
    """The audited users, their attributes and candidates, and what metrics need.

    Parameters
    ----------
    user_ids : as they came
    list_of_user : (n_users,), which candidate list is the user's
    rows : (n_users,), the user's row of the users table
    is_expected : (n_users,), users for whom accuracy is expected: with held-out interactions those
        who have any, else all
    absent : users of the users table that ought to be served and are not audited: rows there
    unseen : other users who are not audited, because the tables say nothing about them
    all_users : the users table
    given : the tables and what was said about them
    notes : what the reader should know about the tables
    circumstances : in which users are to be alike when groups are compared
    unit : what has one value each: users, or what stands in their place here
    """

    user_ids: pl.Series
    attributes: tuple[Attribute, ...]
    candidates: CandidateLists
    list_of_user: IntArray
    side: SideData
    rows: IntArray
    is_expected: BoolArray
    absent: IntArray
    unseen: IntArray
    all_users: Users
    given: TableOptions
    tables: dict[str, Table]
    notes: Notes = ()
    circumstances: tuple[Attribute, ...] = ()
    unit: Unit = USERS

    @property
    def n_users(self) -> int:
        """The number of audited users."""
        return len(self.list_of_user)

    @property
    def columns(self) -> dict[str, str]:
        """Other names of columns."""
        return dict(self.given.columns or {})

    @property
    def described(self) -> InputMetadata:
        """What a result tells of them."""
        given, tables = self.given, self.tables
        measured_by: MeasuredBy = "recommendations" if "test" in tables else "candidates"
        in_memory = (table for table in tables.values() if table.path is None)
        return InputMetadata(
            tables=tables,
            n_users=self.n_users,
            n_candidates=len(self.candidates.items),
            by=tuple(given.by),
            given=tuple(given.adjust_for),
            columns=self.columns,
            relevant=None if given.relevant is None else str(given.relevant),
            missing_lists=given.missing_lists,
            attributes=self.attributes,
            circumstances=self.circumstances,
            warnings=in_words((*self.notes, *self.side.notes)),
            measured_by="values" if "values" in tables else measured_by,
            gain=given.gain,
            # those of the first table that is in memory
            is_pandas=next((table.is_pandas for table in in_memory), False),
            unit=self.unit,
            unit_column=given.unit,
        )

    @property
    def is_without_list(self) -> BoolArray:
        """(n_users,), users whose list is empty."""
        lengths = np.diff(self.candidates.offsets)[self.list_of_user]
        return np.equal(lengths, 0)

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
            circumstances=tuple(replace(a, codes=a.codes[users]) for a in self.circumstances),
            candidates=candidates.take(lists, scores),
            list_of_user=np.arange(len(users)),
            side=self.side.for_lists(lists),
            rows=self.rows[users],
            is_expected=self.is_expected[users],
        )

    def with_scores(self, scores: FloatArray) -> AuditInputs:
        """The same with other scores of all candidates."""
        return replace(self, candidates=replace(self.candidates, scores=scores))


def open_tables(predictions: Any, given: TableOptions) -> dict[str, Table]:
    """The tables that are given, by name, with their columns found; nothing is read yet."""
    columns = given.columns or {}
    check_mapping(columns)
    names = ("test", "values", "users", "items", "history", "against_lists")
    sources = {"predictions": predictions, **{name: getattr(given, name) for name in names}}
    if given.users is None:
        # attributes may stand beside the values
        sources["users"] = given.values
    _refuse_mixture(sources, given)
    tables = {
        name: Table.open(source, name, columns)
        for name, source in sources.items()
        if source is not None
    }
    refuse_unused(columns, {name: table.columns for name, table in tables.items()})
    refuse_swapped(tables)
    refuse_same_file(tables)
    return tables


def _refuse_mixture(sources: Mapping[str, Any], given: TableOptions) -> None:
    """Refuse tables and options that do not go together."""
    given.refuse_gain()
    if given.side == "items":
        raise InputError(
            f"{spell('side', 'items')} is for audits of all scores at hand. Leave it out here."
        )
    if sources["values"] is not None:
        for name in ("predictions", "test", "items", "history", "against_lists"):
            if sources[name] is not None:
                raise InputError(
                    f"{spell('values')} stands for itself: leave out the {name} table, or audit "
                    "it without the values."
                )
    elif sources["predictions"] is None:
        raise InputError("The predictions table is missing. Give a path or a table.")
    if sources["users"] is None:
        raise InputError("The users table is missing. Give a path or a table.")
    if given.relevant is not None and sources["values"] is not None:
        raise InputError(
            f"{spell('relevant')} is about held-out items or candidates, and {spell('values')} "
            "are measured already. Leave it out."
        )
    if given.missing_lists == "drop" and sources["test"] is None:
        raise InputError(
            f"{spell('missing_lists', 'drop')} is about users with held-out items and no list. "
            f"Give the held-out interactions, {spell('test', Blank('FILE'))}, or leave it out."
        )


def read_tables(
    tables: dict[str, Table],
    given: TableOptions,
    *,
    needs: Collection[str],
    wants: Collection[str] = (),
    reserved: Collection[str] = (),
    has_scores: bool = True,
    values: Sequence[str] = (),
    item_columns: Sequence[str] = (),
) -> AuditInputs:
    """Read and check the tables.

    Parameters
    ----------
    tables : as `open_tables` gives them
    needs : what the metrics cannot do without: "labels", "items", "history", "against_lists"
    wants : side data to read where its table is given, whether or not a metric needs it
    reserved : names that no attribute can have
    has_scores : whether the scores are in the table; otherwise a model will give them
    values : columns of the table of values, which then stands for predictions
    item_columns : what metrics ask of columns of the items
    """
    everyone = read_users(tables["users"], given.by)
    refuse_clash([spec.name for spec in everyone.specs], {"user_id", *reserved})
    if values:
        lists = lists_of_values(tables["values"], values, everyone)
    elif "test" in tables:
        lists = lists_and_held_out(tables, given, everyone, has_scores)
    else:
        lists = lists_with_labels(tables, given, everyone, needs, has_scores)
    with_side = {*needs, *(name for name in wants if name in tables)}
    of_lists = everyone.keys[lists.row_of_list]
    side = _side_data(tables, with_side, lists.candidates, of_lists, item_columns)
    if "against_lists" in needs:
        other, about_others = read_other_lists(
            tables["against_lists"], everyone, lists.row_of_list, lists.candidates.item_ids
        )
        side = replace(side, against=other, notes=(*side.notes, about_others))
    list_of_user = np.argsort(lists.row_of_list)
    rows = lists.row_of_list[list_of_user]
    return AuditInputs(
        user_ids=everyone.ids[rows],
        attributes=everyone.attributes(rows),
        candidates=lists.candidates,
        list_of_user=list_of_user,
        side=replace(side, values=lists.values),
        rows=rows,
        is_expected=lists.is_expected[list_of_user],
        absent=lists.absent,
        unseen=lists.unseen,
        all_users=everyone,
        given=given,
        tables=tables,
        notes=lists.notes,
    )


def refuse_clash(
    attributes: Sequence[str], reserved: Collection[str], table: str = "users"
) -> None:
    """An error for an attribute that would be another column of the result."""
    for name in attributes:
        if name in reserved:
            raise InputError(
                f"Attribute '{name}' has the name of a column of the result. "
                f"Rename that column of the {table} table."
            )


def _side_data(
    tables: Mapping[str, Table],
    needs: set[str],
    candidates: CandidateLists,
    user_ids: pl.Series,
    item_columns: Sequence[str],
) -> SideData:
    """The side data the metrics ask for."""
    categories, popularity = None, None
    per_item: Mapping[str, FloatArray] = {}
    notes: list[Note] = []
    if "items" in needs:
        categories, about_items = read_categories(tables["items"], candidates.item_ids)
        notes.append(about_items)
    if "history" in needs:
        popularity, about_history = read_popularity(
            tables["history"], candidates.item_ids, user_ids
        )
        notes.append(about_history)
    if item_columns:
        per_item, about_columns = read_item_columns(
            tables["items"], candidates.item_ids, item_columns
        )
        notes += about_columns
    tastes = None
    if "tastes" in needs:
        tastes = read_user_profiles(tables["history"], tables["items"], user_ids)
    return SideData(categories, popularity, tuple(notes), per_item=per_item, tastes=tastes)


def refuse_swapped(tables: Mapping[str, Table]) -> None:
    """An error where one table looks like what another one was given as."""
    predictions, users, test = (tables.get(name) for name in ("predictions", "users", "test"))
    if predictions:
        refuse_counts(predictions)
    if predictions and not predictions.find("item_id") and predictions.find("user_id"):
        columns = f"Its columns: {listed(predictions.columns)}."
        if users and users.find("item_id"):
            raise InputError(
                f"{predictions.where} has no items and {users.where} has: they look swapped. "
                f"{columns} Give the users as {spell('users')}."
            )
        raise InputError(
            f"{predictions.where}: no column 'item_id', so it holds no predictions. {columns} "
            f"If it holds users, give it as {spell('users')}; if numbers per user, as "
            f"{spell('values')}; if the column has another name, map it: "
            f"{spell('columns', {'item_id': Blank('NAME')})}"
        )
    if users and "values" not in tables and users.find("item_id") and _has_order(users):
        raise InputError(
            f"{users.where} has items and scores, so it looks like predictions. Give the table "
            f"with one row per user and their attributes as {spell('users')}."
        )
    if test and users and users.find("item_id") and not test.find("item_id"):
        raise InputError(
            f"{test.where} has no items and {users.where} has: they look swapped. Give the "
            f"held-out interactions as {spell('test')} and the users as {spell('users')}."
        )
    if test and predictions and _has_order(test) and not _has_order(predictions):
        raise InputError(
            f"{test.where} has scores or ranks and {predictions.where} has none: they look "
            f"swapped. Give the held-out interactions as {spell('test')}."
        )


_OF_COUNTS = {"family", "level", "users"}
"""Columns of each table of counts."""


def refuse_counts(predictions: Table) -> None:
    """An error where a table of counts is given as predictions."""
    if {*predictions.columns} >= _OF_COUNTS and not predictions.find("item_id"):
        raise InputError(
            f"{predictions.where} holds counts of users, as fairrec count writes them, and no "
            f"predictions. Give it alone: {spell('counts', Blank('FILE'))}"
        )


def refuse_same_file(tables: Mapping[str, Table]) -> None:
    """An error where the lists are given once more as what they are held against."""
    lists = tables.get("predictions")
    instead = {"test": "the held-out interactions", "history": "what users had before"}
    for name, meant in instead.items():
        paths = [table.path for table in (lists, tables.get(name)) if table and table.path]
        if lists and len(paths) == 2 and paths[0].resolve() == paths[1].resolve():
            raise InputError(
                f"{lists.where} is given as the predictions and as {spell(name)}: every list "
                f"would be held against itself. Give {meant}, or leave out {spell(name)}."
            )


def _has_order(table: Table) -> bool:
    return bool(table.find("score") or table.find("rank"))
