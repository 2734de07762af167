"""What an experiment comes to: tables, drawings and notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from fairrec.report.text.table_view import TableView

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True, slots=True)
class OutcomeTable:
    """A table of an experiment: numbers for files, and text for people.

    Parameters
    ----------
    name : of its files
    """

    name: str
    data: pl.DataFrame
    view: TableView


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of an experiment."""

    name: str
    title: str
    chart: alt.TopLevelMixin


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an experiment came to."""

    tables: tuple[OutcomeTable, ...]
    drawings: tuple[Drawing, ...] = ()
    notes: tuple[str, ...] = ()
