"""Pages as HTML files that need nothing else, not even a network.

A page is an answer and a list of sections. The page of an audit, and of each feature, is made of
the same parts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fairrec.core.errors import plain
from fairrec.report.answer import Answer
from fairrec.report.metric_words import direction
from fairrec.report.page.dots import DotPlot
from fairrec.report.page.vega import Figure, Rows, drawable
from fairrec.report.words import TableView, isolated, number

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from markupsafe import Markup

CARD_ROWS, CARD_NOTES = 30, 3
STYLES = ("base.css", "first_screen.css", "charts.css", "tables.css", "media.css")
SCRIPTS = ("vega.js", "page.js")
"""Vega, Vega-Lite and Vega-Embed as one script, made by `.ci/make_vega.py`; what uses them."""
_GUIDE = re.compile(r"\bdocs/((?:[a-z-]+/)?[a-z-]+)\.md\b")


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure with its title, its description, and where useful its numbers."""

    title: str
    figure: Figure
    description: str
    table: TableView | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page.

    Parameters
    ----------
    sentences, dots, tables, charts, notes : what it shows, in this order
    warnings : sentences that are marked
    command : what to type to get the same result
    template : of a section that needs its own, with what it lays out in `content`
    data : what the script of the page needs besides charts
    """

    anchor: str
    title: str
    sentences: Sequence[str] = ()
    warnings: Sequence[str] = ()
    dots: Sequence[DotPlot] = ()
    tables: Sequence[TableView] = ()
    charts: Sequence[Chart] = ()
    notes: Sequence[str] = ()
    command: str = ""
    template: str = "section.html.j2"
    content: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)


def write_page(
    kind: str,
    answer: Answer,
    sections: Sequence[Section],
    *,
    title: str,
    facts: Sequence[str] = (),
    first: Section | None = None,
) -> str:
    """A page. Outside text is escaped, and no script but the page's own may run.

    Parameters
    ----------
    kind : of the result, such as "audit"
    facts : what stands beside it at the top
    first : shown with the answer, in place of its table
    """
    from markupsafe import Markup

    shown = [*([first] if first else []), *sections]
    has_charts = any(section.charts for section in shown)
    scripts = [*map(own_file, SCRIPTS if has_charts else SCRIPTS[1:])]
    return page_template("page.html.j2").render(
        kind=kind,
        title=title,
        facts=facts,
        answer=answer,
        first=first,
        sections=sections,
        has_charts=has_charts,
        policy=policy(*scripts),
        css=Markup(page_css()),
        scripts=[Markup(script) for script in scripts],
        payload=Markup(script_data(shown)),
    )


def definition_table(metrics: Mapping[str, Any]) -> TableView:
    """What each metric means, and which of its ends is better.

    Parameters
    ----------
    metrics : each with its `definition` and `higher_is_better`
    """
    rows = tuple(
        (plain(name), plain(one.definition, 500), direction(one.higher_is_better))
        for name, one in metrics.items()
    )
    return TableView("Metrics", ("metric", "meaning", "better end"), (False,) * 3, rows)


def policy(*scripts: str, images: bool = False) -> str:
    """What the browser may do: run these scripts, use styles, and no request of any kind.

    Parameters
    ----------
    images : whether the page holds images of its own
    """
    sums = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{text}'" for text in sums) or "'none'"
    pictures = "img-src data:; " if images else ""
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; {pictures}"
        "base-uri 'none'; form-action 'none'"
    )


def page_css() -> str:
    """The styles of a page."""
    return "".join(map(own_file, STYLES))


def own_file(name: str) -> str:
    """A file that comes with the page."""
    return (files("fairrec.report.page") / "templates" / name).read_text(encoding="utf-8")


def page_template(name: str) -> Template:
    """A template that escapes all text and refuses names it does not know."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        finalize=_isolate,
        undefined=StrictUndefined,
        trim_blocks=True,
        loader=FunctionLoader(own_file),
    )
    environment.filters |= {"number": number, "linked": _linked}
    return environment


def _isolate(value: object) -> object:
    """Text whose right-to-left parts keep to themselves; what is escaped already stays."""
    if not isinstance(value, str) or value.isascii() or hasattr(value, "__html__"):
        return value
    return isolated(value)


def _linked(text: str) -> Markup:
    """A sentence whose guides, files of the documentation, are links to the site."""
    from markupsafe import Markup, escape

    def link(guide: re.Match[str]) -> str:
        name = guide[1].rpartition("/")[2].replace("-", " ")
        return f'<a href="https://fairrec.github.io/fairrec/{guide[1]}.html">{name}</a>'

    return Markup(_GUIDE.sub(link, str(escape(_isolate(text)))))


def card_html(answer: Answer) -> str:
    """An answer for a cell of a notebook; outside text is escaped."""
    fitted = replace(answer, table=answer.table and answer.table.fit(CARD_ROWS))
    return page_template("card.html.j2").render(answer=fitted, notes_shown=CARD_NOTES)


def script_data(sections: Sequence[Section]) -> str:
    """Charts and data of the sections, as JSON that may stand inside a script element.

    Specifications and texts that occur in several charts are kept once.
    """
    specs: dict[str, int] = {}
    texts: dict[str, int] = {}

    def columns(rows: Rows) -> dict[str, Any]:
        names = [*rows[0]]
        is_text = [isinstance(rows[0][name], str) for name in names]
        values = [
            [
                texts.setdefault(row[name], len(texts)) if is_one else _short(row[name])
                for row in rows
            ]
            for name, is_one in zip(names, is_text, strict=True)
        ]
        return {"names": names, "columns": values, "texts": [*map(int, is_text)]}

    charts = {
        f"{section.anchor}-{at}": {
            "spec": specs.setdefault(json.dumps(drawable(chart.figure.spec)), len(specs)),
            "data": {name: columns(rows) for name, rows in chart.figure.data.items() if rows},
        }
        for section in sections
        for at, chart in enumerate(section.charts)
    }
    content = {"charts": charts, "specs": [*map(json.loads, specs)], "texts": drawable([*texts])}
    for section in sections:
        content |= section.data
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _short(value: Any) -> Any:
    """Enough digits for a drawing."""
    return float(f"{value:.6g}") if isinstance(value, float) else value
