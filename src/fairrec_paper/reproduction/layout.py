"""The outcome of an experiment: its tables and drawings, and the files they are written to."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fairrec.core.atomic_io import atomic_folder, put_table
from fairrec.report.page.html import page_css, page_template, policy
from fairrec.report.words import TableView, number
from fairrec.report.words import p_value as p_words
from fairrec_paper.figures import to_svg
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
Column = str | tuple[str, Shown]
"""A name of `COLUMNS`, or the heading and the text of a row."""


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
    pairs = [COLUMNS[column] if isinstance(column, str) else column for column in columns]
    view = TableView(
        title=title,
        columns=tuple(heading for heading, _ in pairs),
        numeric=tuple(at >= n_labels for at in range(len(pairs))),
        rows=tuple(tuple(shown(row) for _, shown in pairs) for row in rows.to_dicts()),
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


def formatted(name: str, form: Callable[[Any], str]) -> Shown:
    """A column of numbers in a form, where there are any."""
    return lambda row: "-" if row[name] is None else form(row[name])


def fixed(name: str, decimals: int) -> Shown:
    """A column of numbers with so many decimals."""
    return formatted(name, f"{{:,.{decimals}f}}".format)


def count(name: str) -> Shown:
    """A column of whole numbers."""
    return fixed(name, 0)


def percent(name: str, decimals: int = 1) -> Shown:
    """A column of shares."""
    return formatted(name, lambda share: f"{100 * share:.{decimals}f}%")


def p_value(name: str = "p_value") -> Shown:
    """A column of p-values."""
    return formatted(name, p_words)


def spread(
    name: str, mean: Callable[[Any], str] = number, sd: Callable[[Any], str] = number
) -> Shown:
    """Mean and standard deviation, which is in the column `NAME_sd`.

    >>> spread("a")({"a": 0.5, "a_sd": 0.01}), spread("a")({"a": 0.5, "a_sd": 0.0})
    ('0.500 ±0.0100', '0.500')
    """

    def shown(row: ShownRow) -> str:
        if row[name] is None:
            return "-"
        # sums in another order leave a trace of a spread
        has_spread = (row[f"{name}_sd"] or 0) >= 1e-12
        return mean(row[name]) + (f" ±{sd(row[f'{name}_sd'])}" if has_spread else "")

    return shown


def fixed_spread(name: str, decimals: int) -> Shown:
    """The same with so many decimals."""
    form = f"{{:,.{decimals}f}}".format
    return spread(name, form, form)


def percent_spread(name: str) -> Shown:
    """The same of a share."""
    return spread(name, lambda mean: f"{100 * mean:.1f}%", lambda sd: f"{100 * sd:.1f}")


COLUMNS: dict[str, tuple[str, Shown]] = {
    "data": ("data", text("data")),
    "model": ("model", model_title),
    "method": ("method", text("method")),
    "metric": ("metric", text("metric")),
    "gap": ("gap", figure("gap")),
    "published": ("published", figure("published")),
    # of gaps between groups of shuffled attributes
    "chance_mean": ("chance: mean", figure("chance_mean")),
    "chance_q95": ("95%", figure("chance_q95")),
    "p_value": ("p", p_value()),
    "accuracy": ("accuracy", percent("accuracy")),
    "accuracy_sd": ("accuracy", percent_spread("accuracy")),
    "published_accuracy": ("published", percent("published_accuracy")),
    "n_groups": ("groups", count("n_groups")),
    "n_combinations": ("combinations", count("n_combinations")),
    "n_users": ("users scored", count("n_users")),
    "users": ("users scored", count("users")),
    "users_together": ("users, all metrics", count("users_together")),
    "share": ("of all", percent("share", 0)),
    "combinations": ("combinations queried", count("combinations")),
    "seconds": ("seconds", figure("seconds")),
    "seconds_sd": ("seconds", spread("seconds")),
    "published_seconds": ("published s", figure("published_seconds")),
}
"""The headings and forms that several tables share; `_sd` is a mean with its spread."""
CHANCE = ("chance_mean", "chance_q95")


# after the end of a row "[" would begin an argument
SPECIAL: dict[str, str | int | None] = {
    **{character: rf"\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"[": "{[}", "|": r"\textbar{}", "<": r"\textless{}", ">": r"\textgreater{}"},
    **{"\u00b1": r"$\pm$", "\u2212": r"$-$"},
}


def as_latex(view: TableView) -> str:
    """A table to include in a document with the package booktabs."""
    layout = "".join("r" if is_number else "l" for is_number in view.numeric)
    header, *rows = (" & ".join(map(latex, cells)) + r" \\" for cells in (view.columns, *view.rows))
    lines = [
        *(r"\begin{table*}[htbp]", r"\centering", rf"\caption{{{latex(view.title)}}}"),
        *(rf"\begin{{tabular}}{{{layout}}}", r"\toprule", header, r"\midrule", *rows),
        *(r"\bottomrule", r"\end{tabular}"),
        *([rf"\par\smallskip\footnotesize {latex(view.note)}"] if view.note else ()),
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """Text in which LaTeX sees nothing special, on one line."""
    return " ".join(text.split()).translate(str.maketrans(SPECIAL)).replace("--", "-{}-")


PAGE = "index.html"


def write_outcome(folder: Path, title: str, outcome: Outcome, command: str) -> None:
    """Write all files of an experiment, or none where one cannot be written."""
    pictures = {drawing.name: to_svg(drawing.chart) for drawing in outcome.drawings}
    texts = {f"{name}.svg": svg for name, svg in pictures.items()}
    texts |= {f"{table.name}.tex": as_latex(table.view) for table in outcome.tables}
    texts[PAGE] = as_page(title, outcome, pictures, command)
    with atomic_folder(folder, owned=(PAGE,)) as part:
        for table in outcome.tables:
            put_table(table.data, part / f"{table.name}.csv", as_csv=True)
        for file_name, text in texts.items():
            (part / file_name).write_text(text, encoding="utf-8", newline="\n")


def as_page(title: str, outcome: Outcome, pictures: dict[str, str], command: str) -> str:
    """One HTML file that needs nothing else; pictures are images, so nothing in them can run."""
    from markupsafe import Markup

    figures = [
        {
            "title": drawing.title,
            "file": f"{drawing.name}.svg",
            "data": base64.b64encode(pictures[drawing.name].encode()).decode(),
        }
        for drawing in outcome.drawings
    ]
    return page_template("reproduction.html.j2").render(
        title=title,
        outcome=outcome,
        figures=figures,
        command=command,
        policy=policy(images=True),
        css=Markup(page_css()),
    )
