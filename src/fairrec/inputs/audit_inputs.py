"""Tables -> the lists or values of users, and all else that an audit works on, by user id."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.audited_entity import USERS, Unit
from fairrec.core.errors import InputError, UnknownNameError, listed, plain, unknown_name
from fairrec.core.options import Blank, spell
from fairrec.inputs.candidates import CandidateLists, read_candidates, refuse_unknown_users
from fairrec.inputs.columns import check_mapping, refuse_unused
from fairrec.inputs.held_out import check_hits, read_held_out
from fairrec.inputs.ids import find_positions, gather_lists, list_bounds
from fairrec.inputs.notes import N, Note, Notes, in_words
from fairrec.inputs.order import TiedLists
from fairrec.inputs.side_data import (
    SideData,
    read_categories,
    read_item_columns,
    read_other_lists,
    read_popularity,
    read_user_profiles,
)
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute, Users, read_users

MeasuredBy = Literal["candidates", "recommendations", "values"]
"""What users were measured by: scored candidates, recommendations and held-out items, or given
values."""


@dataclass(frozen=True, slots=True)
class InputMetadata:
    """The audited users, and how the tables were read.

    Parameters
    ----------
    tables : those that were read, by the parts they play
    by, adjust_for : attributes and covariates as they were named, with their binning
    columns : other names of columns
    measured_by : None where another tool has counted users
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
    adjust_for: tuple[str, ...]
    columns: dict[str, str]
    relevant: str | None
    missing_lists: Literal["zero", "drop"]
    attributes: tuple[Attribute, ...]
    covariates: tuple[Attribute, ...]
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
        that have any, else all
    absent : users of the users table that ought to be served and are not audited: rows there
    unseen : other users who are not audited, as the tables have nothing about them
    all_users : the users table
    given : the tables and the options about them
    covariates : that groups are adjusted for
    unit : what has one value each: users, or items or their units in the place of users
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
    covariates: tuple[Attribute, ...] = ()
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
    def all_notes(self) -> Notes:
        """What the reader of a result should know about the tables and how they were read."""
        # one table may be both values and users
        of_tables = dict.fromkeys(note for table in self.tables.values() for note in table.notes)
        return (*self.notes, *self.side.notes, *of_tables)

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
            adjust_for=tuple(given.adjust_for),
            columns=self.columns,
            relevant=None if given.relevant is None else str(given.relevant),
            missing_lists=given.missing_lists,
            attributes=self.attributes,
            covariates=self.covariates,
            warnings=in_words(self.all_notes),
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
        """(n_lists,), the user of each candidate list."""
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
            covariates=tuple(replace(a, codes=a.codes[users]) for a in self.covariates),
            candidates=candidates.take(lists, scores),
            list_of_user=np.arange(len(users)),
            side=self.side.for_lists(lists),
            rows=self.rows[users],
            is_expected=self.is_expected[users],
        )

    def with_scores(self, scores: FloatArray) -> AuditInputs:
        """The same with other scores of all candidates."""
        return replace(self, candidates=replace(self.candidates, scores=scores))


@dataclass(frozen=True, slots=True)
class UserLists:
    """The lists of an audit and their users.

    Parameters
    ----------
    row_of_list : (n_lists,), the user's row of the users table
    is_expected : (n_lists,), users for whom accuracy is expected
    absent : rows of users who ought to be served and have no list here
    unseen : rows of users with neither lists nor held-out items
    """

    candidates: CandidateLists
    row_of_list: IntArray
    is_expected: BoolArray
    absent: IntArray
    unseen: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    values: Mapping[str, FloatArray] = field(default_factory=dict)
    notes: Notes = ()


def _lists_with_labels(
    tables: Mapping[str, Table], given: TableOptions, everyone: Users, **how: bool
) -> UserLists:
    """Candidates whose labels stand beside them."""
    candidates, row_of_list, _ = read_candidates(
        tables["predictions"], everyone.keys, everyone.where, relevant=given.relevant, **how
    )
    is_expected = np.ones(len(row_of_list), dtype=bool)
    return UserLists(candidates, row_of_list, is_expected, _others(everyone, row_of_list))


def _lists_and_held_out(
    tables: Mapping[str, Table], given: TableOptions, everyone: Users, has_scores: bool
) -> UserLists:
    """Recommendations, and what was held out for their users and for those without a list."""
    table, test = tables["predictions"], tables["test"]
    held_out = read_held_out(test, everyone.keys, everyone.where, given.relevant, given.gain)
    candidates, row_of_list, n_padding = read_candidates(
        *(table, everyone.keys, everyone.where),
        needs_labels=False,
        has_scores=has_scores,
        is_recommended=True,
    )
    filling = f"{N} rows of {table.where} fill lists with the lowest score, and are left out"
    notes: Notes = (*held_out.notes, Note(filling, (n_padding,)))
    if table.find("label"):
        notes += (f"the labels in {table.where} are not used: {test.where} says what is relevant",)
    has_held_out = held_out.has_rows
    candidates, row_of_list = _drop_empty_lists(candidates, row_of_list, has_held_out)
    is_without = has_held_out.copy()
    is_without[row_of_list] = False
    absent = np.flatnonzero(is_without)
    if given.missing_lists == "zero":
        # users with held-out items and no list have an empty one
        row_of_list = np.concatenate([row_of_list, absent])
        ends = np.full(len(absent), candidates.offsets[-1])
        candidates = replace(candidates, offsets=np.concatenate([candidates.offsets, ends]))
        absent = absent[:0]
    if len(held_out.items) and len(candidates.item_ids):
        known = find_positions(held_out.item_ids, candidates.item_ids)[held_out.items] >= 0
        test.expect(
            "items",
            bool(known.any()),
            f"{test.where}: none of its items is ever recommended. Items there: "
            f"{listed(held_out.item_ids.head(3).to_list())}; recommended: "
            f"{listed(candidates.item_ids.head(3).to_list())}. Check that both tables use the same "
            "item ids.",
        )
    of_lists = held_out.take(row_of_list)
    labels = of_lists.labels(candidates.offsets, candidates.items, candidates.item_ids)
    user_ids = everyone.keys.gather(row_of_list)
    return UserLists(
        replace(candidates, labels=labels, held_out=of_lists, user_ids=user_ids),
        row_of_list,
        is_expected=has_held_out[row_of_list],
        absent=absent,
        unseen=_others(everyone, np.concatenate([row_of_list, absent])),
        notes=(*notes, check_hits(table, test, labels)),
    )


def _drop_empty_lists(
    candidates: CandidateLists, row_of_list: IntArray, has_held_out: BoolArray
) -> tuple[CandidateLists, IntArray]:
    """Without the empty lists of users with held-out items: they have no list."""
    lengths = np.diff(candidates.offsets)
    is_kept = (lengths > 0) | ~has_held_out[row_of_list]
    return replace(candidates, offsets=list_bounds(lengths[is_kept])), row_of_list[is_kept]


def empty_lists(n_lists: int) -> CandidateLists:
    """Lists without candidates, of users whose values are measured already."""
    return CandidateLists(
        np.zeros(n_lists + 1, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
        np.zeros(0),
        None,
        pl.Series([], dtype=pl.Int64),
    )


def _lists_of_values(table: Table, columns: Sequence[str], everyone: Users) -> UserLists:
    """Empty lists, and the values of their users."""
    user_column = table.require("user_id")
    frame = table.read({"user_id": user_column, **{f"={name}": name for name in columns}})
    ids = table.user_keys(frame["user_id"])
    table.refuse_duplicates(ids, user_column, "Keep one row per user.")
    positions = find_positions(ids, everyone.keys)
    refuse_unknown_users(ids, positions, table.where, everyone.keys, everyone.where)
    rows = positions.astype(np.int64)
    values = {name: _numbers(frame[f"={name}"], name, table) for name in columns}
    is_expected = np.ones(len(rows), dtype=bool)
    absent = _others(everyone, rows)
    return UserLists(empty_lists(len(rows)), rows, is_expected, absent, values=values)


def _others(everyone: Users, rows: IntArray) -> IntArray:
    """The other rows of the users table."""
    is_other = np.ones(len(everyone.ids), dtype=bool)
    is_other[rows] = False
    return np.flatnonzero(is_other)


def value_columns(
    table: Table,
    wanted: Sequence[str] | None,
    attributes: Collection[str],
    with_end: Collection[str] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns named, and those left out because they hold no numbers.

    By default all with numbers are taken that are neither ids nor attributes; of columns that
    were named, none is left out.

    Parameters
    ----------
    with_end : columns of which an end is called better, so that they have to hold numbers
    """
    user_column = table.require("user_id")
    others = [column for column in table.columns if column != user_column]
    if wanted is not None:
        for name in wanted:
            if name not in others:
                raise UnknownNameError(
                    f"{table.where}: {unknown_name('column', name, others)}{table.hint}"
                )
        return tuple(dict.fromkeys(wanted)), ()
    others = [column for column in others if column not in attributes]
    numeric = table.numeric_columns(others)
    found = tuple(column for column in others if column in numeric or column in with_end)
    if not found:
        raise InputError(
            f"{table.where}: no column of numbers beside the ids and attributes. Columns here: "
            f"{listed(table.columns)}. Name those to audit: {spell('metrics', Blank('COLUMNS'))}"
        )
    return found, tuple(column for column in others if column not in found)


def read_columns(table: Table, columns: Sequence[str]) -> dict[str, FloatArray]:
    """The values of each column in the order of the rows, NaN where there is none."""
    frame = table.read({f"={name}": name for name in columns})
    return {name: _numbers(frame[f"={name}"], name, table) for name in columns}


def _numbers(values: pl.Series, column: str, table: Table) -> FloatArray:
    """Float64, NaN for no value."""
    numbers = table.numbers_with_gaps(values, column)
    table.expect(
        column,
        numbers is not None,
        f"{table.where}: column '{plain(column)}' has no value at all. Leave it out: "
        f"{spell('metrics', Blank('COLUMNS'))}",
    )
    return np.full(len(values), np.nan) if numbers is None else numbers


def open_tables(predictions: Any, given: TableOptions) -> dict[str, Table]:
    """The tables that are given, by name, with their columns found; nothing is read yet."""
    names = ("test", "values", "users", "items", "history", "against_lists")
    sources = {"predictions": predictions, **{name: getattr(given, name) for name in names}}
    if given.users is None:
        # attributes may stand beside the values
        sources["users"] = given.values
    _refuse_mixture(sources, given)
    return open_sources(sources, given.columns or {})


def open_sources(sources: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Table]:
    """Those of some tables that are given; an error where one looks like another."""
    check_mapping(columns)
    tables = {
        name: Table.open(source, name, columns)
        for name, source in sources.items()
        if source is not None
    }
    refuse_unused(columns, {name: table.columns for name, table in tables.items()})
    _refuse_swapped(tables)
    _refuse_same_file(tables)
    return tables


def _refuse_mixture(sources: Mapping[str, Any], given: TableOptions) -> None:
    """Refuse tables and options that do not go together."""
    given.refuse_gain()
    if given.side == "items":
        raise InputError(
            f"{spell('side', 'items')} is for audits of all scores at hand. Leave it out here."
        )
    if sources["values"] is not None:
        others = ("predictions", "test", "items", "history", "against_lists")
        beside = [name for name in others if sources[name] is not None]
        beside += ["relevant"] if given.relevant is not None else []
        if beside:
            raise InputError(
                f"{spell('values')} are measured already. Leave out {listed(beside)}, or audit "
                "without the values."
            )
    elif sources["predictions"] is None:
        raise InputError("The predictions table is missing. Give a path or a table.")
    if sources["users"] is None:
        raise InputError(f"The users table is missing. Give it: {spell('users', Blank('FILE'))}")
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
        lists = _lists_of_values(tables["values"], values, everyone)
    elif "test" in tables:
        lists = _lists_and_held_out(tables, given, everyone, has_scores)
    else:
        how = {"needs_labels": "labels" in needs, "has_scores": has_scores}
        lists = _lists_with_labels(tables, given, everyone, **how)
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
    profiles = None
    if "user_profiles" in needs:
        profiles = read_user_profiles(tables["history"], tables["items"], user_ids)
    return SideData(categories, popularity, tuple(notes), per_item=per_item, user_profiles=profiles)


def _refuse_swapped(tables: Mapping[str, Table]) -> None:
    """An error where a table looks like another one."""
    predictions, users = (tables.get(name) for name in ("predictions", "users"))
    if predictions and {"family", "level", "users"} <= {*predictions.columns}:
        raise InputError(
            f"{predictions.where} holds counts of users, as fairrec count writes them, and no "
            f"predictions. Give it alone: {spell('counts', Blank('FILE'))}"
        )
    if predictions and not predictions.find("item_id") and predictions.find("user_id"):
        raise InputError(
            f"{predictions.where}: no column 'item_id', so it holds no predictions. Its columns: "
            f"{listed(predictions.columns)}. If it holds users, give it as {spell('users')}; if "
            f"numbers per user, as {spell('values')}; if the column has another name, map it: "
            f"{spell('columns', {'item_id': Blank('NAME')})}"
        )
    has_order = users and (users.find("score") or users.find("rank"))
    if users and "values" not in tables and users.find("item_id") and has_order:
        raise InputError(
            f"{users.where} has items and scores, so it looks like predictions. Give the table "
            f"with one row per user and their attributes as {spell('users')}."
        )


def _refuse_same_file(tables: Mapping[str, Table]) -> None:
    """An error where the lists are given once more as what they are held against."""
    lists = tables.get("predictions")
    for name, meant in (
        ("test", "the held-out interactions"),
        ("history", "what users had before"),
    ):
        paths = [table.path for table in (lists, tables.get(name)) if table and table.path]
        if lists and len(paths) == 2 and paths[0].resolve() == paths[1].resolve():
            raise InputError(
                f"{lists.where} is given as the predictions and as {spell(name)}: every list "
                f"would be held against itself. Give {meant}, or leave out {spell(name)}."
            )
