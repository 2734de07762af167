"""The outcome of an experiment: tables of figures, how they are laid out, and drawings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from fairrec.report.words import TableView, number
from fairrec.report.words import p_value as p_words
from fairrec_paper.reproduction.options import MODEL_TITLES

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


ShownRow = Mapping[str, Any]
Shown = Callable[[ShownRow], str]
Column = tuple[str, Shown]
"""The heading, and the text of a row."""


def table(
    name: str,
    title: str,
    rows: pl.DataFrame,
    columns: Sequence[Column],
    note: str = "",
    n_labels: int = 1,
    data: pl.DataFrame | None = None,
) -> OutcomeTable:
    """A table as numbers and as text.

    Parameters
    ----------
    n_labels : so many columns are words, the others numbers
    data : the numbers, where they are more than the rows that are shown
    """
    view = TableView(
        title=title,
        columns=tuple(heading for heading, _ in columns),
        numeric=tuple(at >= n_labels for at in range(len(columns))),
        rows=tuple(tuple(shown(row) for _, shown in columns) for row in rows.to_dicts()),
        note=note,
    )
    return OutcomeTable(name, rows if data is None else data, view)


def model_title(row: ShownRow) -> str:
    """The model's name as the paper writes it."""
    return MODEL_TITLES[row["model"]]


def text(name: str) -> Shown:
    """A column of words."""
    return lambda row: str(row[name])


def figure(name: str) -> Shown:
    """A column of numbers, three significant digits."""
    return lambda row: number(row[name])


def fixed(name: str, decimals: int) -> Shown:
    """A column of numbers with so many decimals."""
    return lambda row: "-" if row[name] is None else f"{row[name]:,.{decimals}f}"


def count(name: str) -> Shown:
    """A column of whole numbers."""
    return fixed(name, 0)


def percent(name: str, decimals: int = 1) -> Shown:
    """A column of shares."""
    return lambda row: "-" if row[name] is None else f"{100 * row[name]:.{decimals}f}%"


def p_value(name: str = "p_value") -> Shown:
    """A column of p-values."""
    return lambda row: "-" if row[name] is None else p_words(row[name])


def spread(name: str, spread_name: str) -> Shown:
    """Mean and standard deviation.

    >>> spread("a", "b")({"a": 0.5, "b": 0.01}), spread("a", "b")({"a": 0.5, "b": 0.0})
    ('0.500 ±0.0100', '0.500')
    """

    def shown(row: ShownRow) -> str:
        mean, sd = row[name], row[spread_name]
        return number(mean) if _is_nothing(sd) else f"{number(mean)} ±{number(sd)}"

    return shown


def fixed_spread(name: str, decimals: int) -> Shown:
    """Mean and standard deviation, which is in the column `NAME_sd`, with so many decimals.

    >>> fixed_spread("a", 3)({"a": 0.5, "a_sd": 0.01}), fixed_spread("a", 3)({"a": 1, "a_sd": None})
    ('0.500 ±0.010', '1.000')
    """

    def shown(row: ShownRow) -> str:
        mean, sd = fixed(name, decimals)(row), row[f"{name}_sd"]
        return mean if _is_nothing(sd) else f"{mean} ±{sd:.{decimals}f}"

    return shown


def percent_spread(name: str, spread_name: str) -> Shown:
    """Mean and standard deviation of a share."""

    def shown(row: ShownRow) -> str:
        mean, sd = row[name], row[spread_name]
        if mean is None:
            return "-"
        share = f"{100 * mean:.1f}%"
        return share if _is_nothing(sd) else f"{share} ±{100 * sd:.1f}"

    return shown


def _is_nothing(sd: float | None) -> bool:
    """Whether there is no spread to speak of; sums in another order leave a trace of one."""
    return sd is None or sd < 1e-12
