"""Both sides in words: the two answers beside each other, then each audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from rich.console import Console
from rich.rule import Rule

from fairrec.report.text.markdown import table_lines, to_markdown
from fairrec.report.text.status import Status
from fairrec.report.text.table_view import TableView
from fairrec.report.text.terminal import print_text, rich_table
from fairrec.report.text.view import ReportView, build_view

if TYPE_CHECKING:
    from fairrec.result.both_sides import BothSides


def _views(both: BothSides) -> list[tuple[str, ReportView]]:
    summaries = (both.users.summary, both.items.summary)
    return [(summary.unit.many, build_view(summary)) for summary in summaries]


def answers(views: list[tuple[str, ReportView]]) -> TableView:
    """What each side comes to, a row each."""
    rows = [(many, _verdict(view), view.overview.headline) for many, view in views]
    return TableView(
        title="Both sides of the same lists",
        columns=("side", "verdict", "answer"),
        numeric=(False,) * 3,
        rows=tuple(rows),
    )


def _verdict(view: ReportView) -> str:
    """That of the metric which matters most."""
    order = get_args(Status)
    return min((verdict.status for verdict in view.verdicts), key=order.index, default="not tested")


def print_both(both: BothSides, console: Console) -> None:
    """Print the two answers, then each audit."""
    views = _views(both)
    console.print(rich_table(answers(views), console.width))
    for many, view in views:
        console.print()
        console.print(Rule(many, align="left", characters="-"))
        print_text(view, console)


def both_markdown(both: BothSides) -> str:
    """The same as Markdown."""
    views = _views(both)
    lines = ["# FairRec audit of both sides", "", *table_lines(answers(views)), ""]
    parts = [
        f"# {many.capitalize()}\n{to_markdown(view).removeprefix('# FairRec audit')}"
        for many, view in views
    ]
    return "\n".join([*lines, *parts])
