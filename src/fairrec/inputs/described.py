"""What a result tells of the tables it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Literal

from fairrec.core.units import USERS, Unit
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute

MeasuredBy = Literal["candidates", "recommendations", "values"]
"""What users were measured by: scored candidates, recommendations and held-out items, or numbers
that somebody else measured."""


@dataclass(frozen=True, slots=True)
class TiedLists:
    """Lists with equal scores, of which chance decides what is in their first places.

    Parameters
    ----------
    k : the deepest cut-off of the metrics
    n_lists : of two or more candidates
    n_tied : an item in the first k places shares its score with another candidate
    n_at_cutoff : that in the last of these places does
    n_constant : all candidates have one score
    """

    k: int
    n_lists: int
    n_tied: int
    n_at_cutoff: int
    n_constant: int

    @property
    def is_without_order(self) -> bool:
        """Whether no list has two different scores."""
        return 0 < self.n_lists == self.n_constant

    def __add__(self, other: TiedLists) -> TiedLists:
        """Those of two parts of the lists."""
        counts = zip(astuple(self)[1:], astuple(other)[1:], strict=True)
        return TiedLists(self.k, *(one + two for one, two in counts))


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
