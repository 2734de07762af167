"""The view as one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import polars as pl

from fairrec.report.answer import Answer
from fairrec.report.page.build import build_page_view
from fairrec.report.page.figures import (
    certificate_curve,
    correlation_map,
    group_chart,
    pair_heat_map,
    search_history,
)
from fairrec.report.page.findings import number_columns, table_columns
from fairrec.report.page.group_charts import place_marks
from fairrec.report.page.vega import Figure, Rows, drawable
from fairrec.report.page.view import PageLimits, PageSection, PageView, PairMap
from fairrec.report.words import isolated, plural
from fairrec.result.folder import AuditRun
from fairrec.result.schema import AuditSummary

if TYPE_CHECKING:
    from jinja2 import Environment, Template


MOST_BYTES = 2_000_000
FIRST_ROWS = 50
CARD_ROWS, CARD_NOTES = 30, 3
CARDS_SHOWN = 10
STYLES = ("base.css", "first_screen.css", "charts.css", "tables.css", "media.css")
TONE = {"found": "found", "clear": "clear", "open": "untested"}
_ROLES = {"finding": "finding-role", "best end": "end-role", "worst end": "end-role"}


def page_html(
    summary: AuditSummary,
    groups: pl.DataFrame,
    group_file: str = "groups.parquet",
    run: AuditRun | None = None,
    section: PageSection | None = None,
) -> str:
    """The page of a result, at most `MOST_BYTES` long: of very large results it shows less.

    Parameters
    ----------
    groups : the table of groups, as in `groups.parquet`
    group_file : where that table is, from the page
    run : when it was made, where that is known
    section : of the feature that the audit is a part of, where it is one
    """
    link = quote(os.fsencode(group_file))
    share = 1.0
    while True:
        limits = PageLimits().scaled(share)
        view = build_page_view(summary, groups, link, limits, run, section)
        page = lay_out(view)
        if len(page.encode()) <= MOST_BYTES or share < 1e-3:
            return page
        share /= 2


def lay_out(view: PageView) -> str:
    """The view as HTML. Outside text is escaped, and no script but the page's own may run."""
    from markupsafe import Markup

    # Vega, Vega-Lite and Vega-Embed as one script, made by .ci/make_vega.py
    vega, script, first_script = map(own_file, ("vega.js", "page.js", "first_screen.js"))
    return page_template("page.html.j2").render(
        view=view,
        section=Markup(view.section.html if view.section else ""),
        policy=policy(vega, script, first_script),
        css=Markup(page_css()),
        running_title=Markup(css_text(f"FairRec: {(view.heading or view.words.title)[:100]}")),
        vega=Markup(vega),
        script=Markup(script),
        first_script=Markup(first_script),
        payload=Markup(chart_payload(view)),
        pair_names=pair_names(view.pairs),
        pair_metrics={pair.metric for pair in view.pairs},
        sections=_sections(view),
        columns=table_columns(view.unit, view.confidence, view.difference),
        first_rows=FIRST_ROWS,
        rows_shown=CARDS_SHOWN,
        marks=place_marks(view.charts),
        has_points=any(chart.points and not chart.density for chart in view.charts),
        has_density=any(chart.density for chart in view.charts),
        is_sampled=any(chart.funnel_fully_scored for chart in view.charts),
        has_funnel=any(chart.funnel for chart in view.charts),
        is_tested=bool(view.dots),
        tone_class=TONE,
        role_class=_ROLES,
    )


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


def _sections(view: PageView) -> list[tuple[str, str]]:
    sections = [
        *([(view.section.anchor, view.section.title)] if view.section else []),
        ("findings", "Groups that differ"),
        ("verdicts", "Verdicts"),
        *([("ruled-out", "Ruled out")] if view.certificates else []),
        ("groups", "Group sizes"),
        ("pairs", "Two attributes"),
        ("attributes", view.unit.audited),
        ("table", "All groups"),
    ]
    if view.ratios.rows:
        sections.append(("ratios", "Ratios"))
    if len(view.metrics) > 1 and (view.correlation or view.side_by_side):
        sections.append(("metrics", "Metrics"))
    if view.words.search:
        sections.append(("search", "Search"))
    return [*sections, ("data", "Data"), ("definitions", "Definitions"), ("reproduce", "Reproduce")]


def page_css() -> str:
    """The styles of a page, part after part."""
    return "".join(map(own_file, STYLES))


def css_text(text: str) -> str:
    r"""Text as a string of a style sheet, of which nothing can end the string or the sheet.

    >>> print(css_text('a"</style>'))
    "a\22 \3c \2f style\3e "
    """
    safe = (c if c.isascii() and (c.isalnum() or c == " ") else f"\\{ord(c):x} " for c in text)
    return f'"{"".join(safe)}"'


def own_file(name: str) -> str:
    """A file that comes with the page."""
    return (files("fairrec.report.page") / "templates" / name).read_text(encoding="utf-8")


def page_template(name: str) -> Template:
    """A template that escapes all text and refuses names it does not know."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        autoescape=True,
        finalize=_printed,
        undefined=StrictUndefined,
        trim_blocks=True,
        loader=FunctionLoader(own_file),
    )


def _printed(value: object) -> object:
    """What a template prints; names and commands, escaped there already, stay as they are."""
    if not isinstance(value, str) or value.isascii() or hasattr(value, "__html__"):
        return value
    return isolated(value)


def make_ready() -> None:
    """Load and compile what every page of an audit needs, which takes longer than to write one."""
    waiting, seen = ["page.html.j2"], set[str]()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        page_template(name)
        waiting += {*re.findall(r'"(\w+\.html\.j2)"', own_file(name))} - seen


def card_html(answer: Answer) -> str:
    """An answer as a part of a page that brings what it needs; outside text is escaped."""
    fitted = replace(answer, table=answer.table and answer.table.fit(CARD_ROWS))
    return page_template("card.html.j2").render(answer=fitted, notes_shown=CARD_NOTES)


def chart_payload(view: PageView) -> str:
    """All charts of a view, as JSON that may stand inside a script element."""
    packer = _Packer()
    figures = {chart.anchor: group_chart(chart) for chart in view.charts if chart.points}
    for certificate in view.certificates:
        if certificate.steps:
            figures[certificate.anchor] = certificate_curve(certificate)
    for at, history in enumerate(view.histories):
        figures[f"history-{at}"] = search_history(history)
    if view.section:
        figures |= view.section.figures
    if view.correlation:
        figures["correlation"] = correlation_map(view.correlation)
    charts = {name: packer.chart(figure) for name, figure in figures.items()}
    pairs = _pairs(view, packer)
    names = number_columns(view.unit, view.confidence, view.difference)
    columns = [[row.numbers[at] for row in view.table] for at in range(len(names))]
    content = {
        "metrics": [[chart.metric, chart.anchor] for chart in view.charts],
        "charts": charts,
        "pairs": pairs,
        "table": {"names": names, "columns": columns},
        # what a difference beside a value as it is has to be called
        "adjusted": view.difference if view.is_adjusted else "",
        "specs": packer.specs,
        "texts": drawable([*packer.texts]),
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def pair_names(pairs: Sequence[PairMap]) -> list[str]:
    """The pairs of attributes that are drawn, each once."""
    return [*dict.fromkeys(_pair_name(pair) for pair in pairs)]


def _pair_name(pair: PairMap) -> str:
    return f"{pair.row_name} and {pair.column_name}"


def _pairs(view: PageView, packer: _Packer) -> list[dict[str, Any]]:
    names = pair_names(view.pairs)
    return [
        {
            **packer.chart(pair_heat_map(pair)),
            "pair": names.index(_pair_name(pair)),
            "metric": view.metrics.index(pair.metric),
            "low": pair.ramp.low,
            "high": pair.ramp.high,
            "neutral": pair.ramp.is_neutral,
            "words": isolated(_in_words(pair)),
        }
        for pair in view.pairs
    ]


def _in_words(pair: PairMap) -> str:
    """A map for those who do not see it."""
    n_cells = len(pair.cells)
    n_findings = sum(cell.is_finding for cell in pair.cells)
    n_faded = sum(cell.is_faded for cell in pair.cells)
    clear = [cell for cell in pair.cells if not cell.is_faded and cell.difference is not None]
    furthest = max(clear, key=lambda cell: abs(cell.shade), default=None)
    said = [
        f"{pair.metric}: {plural(n_cells, 'combination')} of {_pair_name(pair)} with enough "
        f"{pair.unit.many}; empty places have too few.",
        f"{n_faded:,} of {n_cells:,} are faded: not significant." if n_faded else "",
        f"{plural(n_findings, 'finding')} outlined." if n_findings else "",
        f"Furthest from all others: {furthest.label}, {furthest.text}." if furthest else "",
    ]
    return " ".join(filter(None, said))


@dataclass(slots=True)
class _Packer:
    """Keeps every specification and every text once."""

    specs: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=dict)

    def chart(self, figure: Figure) -> dict[str, Any]:
        spec = drawable(figure.spec)
        key = json.dumps(spec, sort_keys=True)
        if key not in self._seen:
            self._seen[key] = len(self.specs)
            self.specs.append(spec)
        data = {name: self._columns(rows) for name, rows in figure.data.items() if rows}
        return {"spec": self._seen[key], "data": data}

    def _columns(self, rows: Rows) -> dict[str, Any]:
        names = [*rows[0]]
        columns: list[list[Any]] = []
        is_text = []
        for name in names:
            values = [row[name] for row in rows]
            is_text.append(isinstance(values[0], str))
            columns.append(
                [self.texts.setdefault(value, len(self.texts)) for value in values]
                if is_text[-1]
                else values
            )
        return {"names": names, "columns": columns, "texts": [int(text) for text in is_text]}
