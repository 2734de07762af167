"""Attributes of users as numbers that mean the same in every part.

Which values an attribute has, where bins begin and what they are called follows from all audited
users, so it is found once; a part has the codes of its users.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, BoolArray, CodeArray, IntArray
from fairrec.inputs.frames import Rows, Source
from fairrec.inputs.parts.piece import FileRows, Piece, scan_rows
from fairrec.inputs.tables import Table
from fairrec.inputs.users import (
    MISSING,
    Attribute,
    AttributeSpec,
    Users,
    Value,
    encode_attribute,
    read_attribute,
    read_users,
    refuse_repeated,
)

_PER_FILE = 1 << 22


@dataclass(frozen=True, slots=True)
class CodedAttribute:
    """What all parts share of an attribute.

    Parameters
    ----------
    asked : as it was asked for, with its binning
    values : of the audited users, in sorted order, `(missing)` last
    values_of_all : the same of all users of the table, audited or not
    n_missing : audited users without a value
    warnings : what the reader should know about the column
    """

    asked: str
    spec: AttributeSpec
    values: tuple[Value, ...]
    values_of_all: tuple[Value, ...]
    n_missing: int
    binning: str | None
    warnings: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.spec.name

    def of(self, codes: AnyArray, values: tuple[Value, ...]) -> Attribute:
        """The attribute of some users."""
        is_missing = np.array([value == MISSING for value in values], dtype=bool)
        n_missing = int(is_missing[codes].sum())
        return Attribute(self.name, codes.astype(np.int32), values, n_missing, self.binning)


@dataclass(frozen=True, slots=True)
class UsersPiece(Piece):
    """The users of a part.

    Parameters
    ----------
    columns : of the users table
    attributes : all that were asked for
    """

    columns: tuple[str, ...] = ()
    attributes: tuple[CodedAttribute, ...] = ()

    def open(self) -> Source:
        """Codes under the names of the table, of which none is read."""
        return Rows(scan_rows(self.rows), self.columns)

    def users(self, by: Sequence[str]) -> Users:
        """The users with the attributes named in `by`."""
        places = [at for text in by for at, one in enumerate(self.attributes) if one.asked == text]
        refuse_repeated([self.attributes[at].name for at in places])
        frame = scan_rows(self.rows).collect()
        frame = frame.sort("key" if "key" in frame.columns else "id")
        keys = frame["key"] if "key" in frame.columns else frame["id"]
        return CodedUsers(
            frame["id"].alias("user_id"),
            keys.alias("user_id"),
            frame.select(
                # text, so that nobody takes codes for numbers to be binned
                pl.col(f"audited {at}").cast(pl.String).alias(self.attributes[at].name)
                for at in places
            ),
            tuple(self.attributes[at].spec for at in places),
            self.where,
            frame,
            tuple(places),
            self.attributes,
        )


@dataclass(frozen=True, slots=True)
class CodedUsers(Users):
    """Users whose attributes are known by codes; see `Users`."""

    frame: pl.DataFrame
    places: tuple[int, ...]
    coded: tuple[CodedAttribute, ...]

    def attributes(self, rows: IntArray) -> tuple[Attribute, ...]:
        """The attributes of the users in `rows`: as of all audited users where these are such."""
        found = []
        for at in self.places:
            one = self.coded[at]
            codes = self.frame[f"audited {at}"].to_numpy()[rows]
            if len(codes) and codes.min() < 0:
                codes = self.frame[f"all {at}"].to_numpy()[rows]
                found.append(one.of(codes, one.values_of_all))
            else:
                found.append(one.of(codes, one.values))
        return tuple(found)


def users_of(table: Table, by: Sequence[str]) -> Users:
    """The users and the attributes named in `by`, of a whole table or of a part."""
    if isinstance(table.piece, UsersPiece):
        return table.piece.users(by)
    return read_users(table, by)


def encode_attributes(
    table: Table, asked: Sequence[str], is_audited: BoolArray
) -> tuple[dict[str, pl.Series], tuple[CodedAttribute, ...]]:
    """Columns of codes of all users, in the order of the rows, and what the codes mean.

    One attribute is read at a time, so that no more than one is there as text.

    Parameters
    ----------
    asked : attributes with their binning
    """
    columns: dict[str, pl.Series] = {}
    found: list[CodedAttribute] = []
    for text in asked:
        specs, values = read_attribute(table, text)
        for spec in specs:
            mine = of_all = encode_attribute(values[spec.name], spec, table.where)
            if not is_audited.all():
                audited = values[spec.name].filter(pl.Series(is_audited))
                mine = encode_attribute(audited, spec, table.where)
                columns[f"all {len(found)}"] = _narrow(of_all)
            codes = np.full(len(is_audited), -1, dtype=np.int32)
            codes[is_audited] = mine.codes
            columns[f"audited {len(found)}"] = _narrow(replace(mine, codes=codes))
            found.append(
                CodedAttribute(
                    *(text, spec, mine.values, of_all.values),
                    *(mine.n_missing, mine.binning, mine.warnings),
                )
            )
    return columns, tuple(found)


def write_users(
    frame: pl.DataFrame, parts: CodeArray, n_parts: int, folder: Path
) -> tuple[FileRows, ...]:
    """Write users part by part; where those of each part are."""
    # of 16 bits that takes no comparison
    order = np.argsort(parts.astype(np.int16) if n_parts < 1 << 15 else parts, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(parts, minlength=n_parts))])
    rows: list[FileRows] = []
    first = 0
    while first < n_parts:
        stop = int(np.searchsorted(bounds, bounds[first] + _PER_FILE, side="right")) - 1
        stop = min(max(stop, first + 1), n_parts)
        file = folder / f"users-{first:05}.parquet"
        some = frame[order[bounds[first] : bounds[stop]]]
        n_each = max(len(some) // (stop - first), 1 << 10)
        some.write_parquet(file, compression="lz4", statistics=False, row_group_size=n_each)
        starts = bounds[first : stop + 1] - bounds[first]
        rows += [FileRows(file, int(a), int(b)) for a, b in pairwise(starts)]
        first = stop
    return tuple(rows)


def _narrow(attribute: Attribute) -> pl.Series:
    """The codes, and -1, in as few bytes as they fit."""
    n_values = len(attribute.values)
    kind = np.int8 if n_values < 1 << 7 else np.int16 if n_values < 1 << 15 else np.int32
    return pl.Series(attribute.codes.astype(kind))
