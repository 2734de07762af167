"""Both sides as one HTML file that needs neither a network nor a script."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from fairrec.core.errors import plain
from fairrec.report.page.build import LONGEST_COMMAND, build_page_view
from fairrec.report.page.html import (
    MOST_BYTES,
    TONE,
    css_text,
    page_css,
    page_template,
    policy,
)
from fairrec.report.page.view import PageLimits, PageView
from fairrec.report.text.overview import SHOWN
from fairrec.report.text.table_view import TableView
from fairrec.report.text.view import build_view

if TYPE_CHECKING:
    from fairrec.result.audit_result import AuditResult

LIMITS = PageLimits(points=1, rows=1, cells=1, findings=SHOWN, values=1, ratios=1, metrics=SHOWN)
"""The page of each side by itself has more."""


@dataclass(frozen=True, slots=True)
class SideView:
    """One side, ready to lay out; `page` is a link to its own page, empty where it has none."""

    name: str
    view: PageView
    findings: TableView
    page: str


def both_page(users: AuditResult, items: AuditResult, command: str, folder: str) -> str:
    """The page of both, at most `MOST_BYTES` long: of very large results it shows less.

    Parameters
    ----------
    folder : where the folders of both are, from the page; empty where they are in none
    """
    share = 1.0
    while True:
        page = _lay_out(users, items, command, folder, LIMITS.scaled(share))
        if len(page.encode()) <= MOST_BYTES or share < 1e-3:
            return page
        share /= 2


def _lay_out(
    users: AuditResult, items: AuditResult, command: str, folder: str, limits: PageLimits
) -> str:
    from markupsafe import Markup

    sides = [_side("users", users, folder, limits), _side("items", items, folder, limits)]
    first = sides[0].view
    return page_template("both.html.j2").render(
        sides=sides,
        heading=first.heading,
        about_model=first.about_model,
        author=first.author,
        made_at=first.made_at,
        command=plain(command, LONGEST_COMMAND),
        version=users.summary.fairrec_version,
        seed=users.summary.seed,
        policy=policy(),
        css=Markup(page_css()),
        running_title=Markup(css_text(f"FairRec: {(first.heading or first.title)[:100]}")),
        tone_class=TONE,
    )


def _side(name: str, result: AuditResult, folder: str, limits: PageLimits) -> SideView:
    group_file = quote(os.fsencode(f"{folder}{name}/groups.parquet")) if folder else ""
    view = build_page_view(result.summary, result.group_table, group_file, limits, run=result.run)
    page = quote(os.fsencode(f"{folder}{name}/report.html")) if folder else ""
    return SideView(name, view, build_view(result.summary).findings, page)
