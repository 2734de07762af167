"""A report written down, with marks that a layout could take for its own."""

from __future__ import annotations

from typing import Any

from fairrec.report.answer import Answer, AnswerTable, Block, Row, answer_lines
from fairrec.report.verdict import Verdict
from fairrec.report.view import ReportView
from fairrec.report.words import TableView

EMPTY = TableView("nothing there", ("group",), (False,), ())
TABLE = TableView(
    "title *t*", ("group", "n"), (False, True), (("who=a|b", "7"), ("[red]x[/red]", "12")), "a note"
)
ANSWER = Answer(
    tone="found",
    headline="the [i]answer[/i]",
    about=("in *detail*", "10 users"),
    table=AnswerTable(
        ("auc", "users", "difference", "verdict"),
        (False, True, True, False),
        (
            Block("who", (Row("a|b", ("7", "-0.2", "worse"), "worse"),), "1 group"),
            Block("town", (), "21 groups, none worse", is_short=True),
        ),
    ),
    sentences=("Ruled out: none of the others.",),
    others=("m|r  inconclusive",),
    next_steps=("do [b]it[/b]", "do that"),
    page="audit/report.html",
)


def report_view(**changes: Any) -> ReportView:
    """Two metrics, the second without anything to say of its gap."""
    parts = {
        "title": "10 users",
        "called": "",
        "answer": ANSWER,
        "verdicts": (
            Verdict("auc", "worse", "headline one.", "ruled out one.", ("gap one.",)),
            Verdict("m|r", "inconclusive", "headline two.", "", ("power two.",)),
        ),
        "findings": TABLE,
        "ratios": EMPTY,
        "search": ("the [b]search[/b]",),
        "coverage": ("the coverage",),
        "reproduce": "fairrec audit <file>",
        **changes,
    }
    return ReportView(**parts)


def answer_text(answer: Answer) -> str:
    """All of an answer, as it would be printed where there is room for it."""
    return "\n".join(line.plain for line in answer_lines(answer, 500, 1000))
