"""A report written down, with marks that a layout could take for its own."""

from __future__ import annotations

from typing import Any

from fairrec.mitigation.view import MitigationView
from fairrec.report.text.findings import Mark
from fairrec.report.text.overview import GroupLine, Overview
from fairrec.report.text.ratios import RatiosView
from fairrec.report.text.verdict import Verdict
from fairrec.report.text.view import ReportView
from fairrec.report.words import TableView

EMPTY = TableView("nothing there", ("group",), (False,), ())
TABLE = TableView(
    "title *t*", ("group", "n"), (False, True), (("who=a|b", "7"), ("[red]x[/red]", "12")), "a note"
)
OVERVIEW = Overview(
    tone="found",
    headline="the [i]answer[/i]",
    named="",
    detail="in *detail*",
    who=("1 group worse",),
    how_much=("-0.2",),
    how_sure=("sure",),
    next_steps=("do [b]it[/b]",),
    ruled_out="none of the others",
    lines=(
        GroupLine("who=a|b", "7", "worse", "auc", "-0.2", "-0.3 to -0.1", (Mark("auc", "worse"),)),
    ),
    n_more=2,
)


def report_view(**changes: Any) -> ReportView:
    """Two metrics, the second without anything to say of its gap."""
    parts = {
        "title": "10 users",
        "overview": OVERVIEW,
        "plan": (),
        "missing": (),
        "verdicts": (
            Verdict("auc", "worse", "headline one.", "ruled out one.", "gap one.", ""),
            Verdict("m|r", "inconclusive", "headline two.", "", "", "power two."),
        ),
        "findings": TABLE,
        "carried": (),
        "ends": EMPTY,
        "ratios": RatiosView("", (), EMPTY, EMPTY, ()),
        "search": ("the [b]search[/b]",),
        "coverage": ("the coverage",),
        "warnings": (),
        "reproduce": "fairrec audit <file>",
        **changes,
    }
    return ReportView(**parts)


def mitigation_view(**changes: Any) -> MitigationView:
    """One table, a stamp and two sentences."""
    parts = {
        "headline": "the headline",
        "stamps": ("a STAMP",),
        "said": ("first said", "then [b]said[/b]"),
        "effects": TABLE,
        "gaps": EMPTY,
        "groups": EMPTY,
        "harmed": EMPTY,
        "exposure": EMPTY,
        "trade_offs": (),
        "notes": (),
        "reproduce": "fairrec mitigate audit",
        **changes,
    }
    return MitigationView(**parts)
