"""The view as one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import polars as pl

from fairrec.core.atomic_io import write_text
from fairrec.counterfactuals.result import CounterfactualSummary
from fairrec.mitigation.schema import MitigationSummary
from fairrec.report.page.build import build_page_view
from fairrec.report.page.findings import table_columns
from fairrec.report.page.group_charts import marks_in
from fairrec.report.page.view import PageLimits, PageView
from fairrec.report.text.findings import neighbour_columns
from fairrec.report.text.overview import SHOWN
from fairrec.report.text.view import build_view
from fairrec.report.words import isolated
from fairrec.result.saved import AuditRun
from fairrec.result.schema import AuditSummary

if TYPE_CHECKING:
    from jinja2 import Environment, Template

MOST_BYTES = 2_000_000
FIRST_ROWS = 50
STYLES = ("base.css", "first_screen.css", "charts.css", "tables.css", "mitigation.css", "media.css")
TONE = {"found": "found", "clear": "clear", "open": "untested"}
_ROLES = {"finding": "finding-role", "best end": "end-role", "worst end": "end-role"}


def page_html(
    summary: AuditSummary,
    groups: pl.DataFrame,
    group_file: str = "groups.parquet",
    mitigation: MitigationSummary | None = None,
    run: AuditRun | None = None,
    counterfactual: CounterfactualSummary | None = None,
) -> str:
    """The page of a result, at most `MOST_BYTES` long: of very large results it shows less.

    Parameters
    ----------
    groups : the table of groups, as in `groups.parquet`
    group_file : where that table is, from the page
    mitigation : what was done before this audit, where it is of re-ranked lists
    run : when it was made, where that is known
    counterfactual : what changes for all users, where it is of that
    """
    link = quote(os.fsencode(group_file))
    share = 1.0
    while True:
        limits = PageLimits().scaled(share)
        view = build_page_view(summary, groups, link, limits, mitigation, run, counterfactual)
        page = lay_out(view)
        if len(page.encode()) <= MOST_BYTES or share < 1e-3:
            return page
        share /= 2


def write_page(
    file: Path,
    summary: AuditSummary,
    groups: pl.DataFrame,
    group_file: str = "groups.parquet",
    mitigation: MitigationSummary | None = None,
    run: AuditRun | None = None,
    counterfactual: CounterfactualSummary | None = None,
) -> None:
    """Write the page of a result, whole or not at all."""
    write_text(file, page_html(summary, groups, group_file, mitigation, run, counterfactual))


def lay_out(view: PageView) -> str:
    """The view as HTML. Outside text is escaped, and no script but the page's own may run."""
    from markupsafe import Markup

    from fairrec.report.page.payload import chart_payload, pair_names

    # Vega, Vega-Lite and Vega-Embed as one script, made by .ci/make_vega.py
    vega, script, first_script = map(own_file, ("vega.js", "page.js", "first_screen.js"))
    return page_template("page.html.j2").render(
        view=view,
        policy=policy(vega, script, first_script),
        css=Markup(page_css()),
        running_title=Markup(css_text(f"FairRec: {(view.heading or view.title)[:100]}")),
        vega=Markup(vega),
        script=Markup(script),
        first_script=Markup(first_script),
        payload=Markup(chart_payload(view)),
        pair_names=pair_names(view.pairs),
        pair_metrics={pair.metric for pair in view.pairs},
        sections=_sections(view),
        columns=table_columns(view.unit, view.confidence, view.difference),
        neighbour_columns=neighbour_columns(view.unit),
        first_rows=FIRST_ROWS,
        rows_shown=SHOWN,
        marks=marks_in(view.charts),
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
        *([("mitigation", "Mitigation")] if view.mitigation else []),
        *([("changes", "What changes")] if view.changes else []),
        ("findings", "Groups that differ"),
        ("verdicts", "Verdicts"),
        *([("ruled-out", "Ruled out")] if view.certificates else []),
        ("groups", "Group sizes"),
        ("pairs", "Two attributes"),
        ("attributes", view.unit.audited),
        ("table", "All groups"),
    ]
    if view.ratios.table.rows or view.ratios.inequality.rows:
        sections.append(("ratios", "Ratios"))
    if len(view.metrics) > 1 and (view.correlation or view.side_by_side):
        sections.append(("metrics", "Metrics"))
    if view.search:
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
    from markupsafe import Markup

    return isolated(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def make_ready() -> None:
    """Load and compile what every page of an audit needs, which takes longer than to write one."""
    waiting, seen = ["page.html.j2"], set[str]()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        page_template(name)
        waiting += {*re.findall(r'"(\w+\.html\.j2)"', own_file(name))} - seen


def card_html(summary: AuditSummary) -> str:
    """A part of a page that brings what it needs; outside text is escaped."""
    view = build_view(summary)
    return page_template("card.html.j2").render(
        answer=view.overview,
        about=[*filter(None, (view.called, view.title))],
        first=(*view.plan, *view.checks, *view.missing, *view.circumstances),
        findings=view.findings,
    )
