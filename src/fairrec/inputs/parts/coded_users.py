"""Attributes of users as numbers that mean the same in every part.

Which values an attribute has, where bins begin and what they are called follows from all audited
users, so it is found once; a part has the codes of its users.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, IntArray
from fairrec.inputs.frames import Rows, Source
from fairrec.inputs.parts.row_slice import Piece, scan_rows
from fairrec.inputs.tables import Table
from fairrec.inputs.users import (
    MISSING,
    Attribute,
    AttributeSpec,
    Users,
    encode_attribute,
    read_attribute,
    read_users,
    refuse_repeated,
)


@dataclass(frozen=True, slots=True)
class CodedAttribute:
    """What all parts share of an attribute.

    Parameters
    ----------
    asked : as it was asked for, with its binning
    audited, everyone : as it is of the audited users, and of all of the table; without codes
    """

    asked: str
    spec: AttributeSpec
    audited: Attribute
    everyone: Attribute


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
        of = {at: one for text in by for at, one in enumerate(self.attributes) if one.asked == text}
        specs = tuple(one.spec for one in of.values())
        refuse_repeated([spec.name for spec in specs])
        frame = scan_rows(self.rows).collect()
        key = "key" if "key" in frame.columns else "id"
        frame = frame.sort(key)
        # text, so that nobody takes codes for numbers to be binned
        texts = (pl.col(f"audited {at}").cast(pl.String).alias(of[at].spec.name) for at in of)
        ids, keys = (frame[name].alias("user_id") for name in ("id", key))
        return CodedUsers(ids, keys, frame.select(texts), specs, self.where, frame, of)


@dataclass(frozen=True, slots=True)
class CodedUsers(Users):
    """Users whose attributes are known by codes; see `Users`."""

    frame: pl.DataFrame
    coded: Mapping[int, CodedAttribute]

    def attributes(self, rows: IntArray) -> tuple[Attribute, ...]:
        """The attributes of the users in `rows`: as of all audited users where these are such."""
        found = []
        for at, one in self.coded.items():
            shared, codes = one.audited, self.frame[f"audited {at}"].to_numpy()[rows]
            if len(codes) and codes.min() < 0:
                shared, codes = one.everyone, self.frame[f"all {at}"].to_numpy()[rows]
            is_missing = np.array([value == MISSING for value in shared.values], dtype=bool)
            n_missing = int(is_missing[codes].sum())
            codes = codes.astype(np.int32)
            found.append(replace(shared, codes=codes, n_missing=n_missing, warnings=()))
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
            shared = (replace(one, codes=codes[:0]) for one in (mine, of_all))
            found.append(CodedAttribute(text, spec, *shared))
    return columns, tuple(found)


def _narrow(attribute: Attribute) -> pl.Series:
    """The codes, and -1, in as few bytes as they fit."""
    n_values = len(attribute.values)
    kind = np.int8 if n_values < 1 << 7 else np.int16 if n_values < 1 << 15 else np.int32
    return pl.Series(attribute.codes.astype(kind))
