"""What a result tells of the tables it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fairrec.core.units import USERS, Unit
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute

MeasuredBy = Literal["candidates", "recommendations", "values"]
"""What users were measured by: scored candidates, recommendations and held-out items, or numbers
that somebody else measured."""


@dataclass(frozen=True, slots=True)
class Described:
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
