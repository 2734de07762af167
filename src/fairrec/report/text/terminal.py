"""The view in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fairrec.report.mitigation.view import MitigationView
from fairrec.report.text.overview import Overview, Served
from fairrec.report.text.table_view import TableView
from fairrec.report.text.verdict import Tone, said_of
from fairrec.report.text.view import ReportView
from fairrec.report.words import plural

_SERVED: dict[Served, str] = {"worse": "red", "better": "blue", "differs": ""}
_STYLE: dict[Tone, str] = {"found": "bold red", "clear": "bold green", "open": "bold yellow"}


def print_text(view: ReportView, console: Console) -> None:
    """Print the view, the answer first. Outside text is never read as markup."""
    _print_head(view, console)
    _print_groups(view.overview, console)
    for verdict in view.verdicts:
        head = Text.assemble(
            "\n", (verdict.metric, "bold"), "  ", (verdict.status, _STYLE[verdict.tone])
        )
        console.print(head)
        for sentence in said_of(verdict):
            if sentence:
                console.print(Padding(Text(sentence), (0, 0, 0, 2), expand=False))
    if view.findings.rows:
        console.print()
        console.print(rich_table(view.findings))
    for line in view.explained:
        console.print(Text(line))
    for carried in view.carried:
        console.print(Text(carried.sentence))
    if view.ends.rows:
        console.print()
        console.print(rich_table(view.ends))
    console.print()
    for line in filter(None, (view.ratios.below, *view.search, *view.coverage)):
        console.print(Text(line))
    for warning in view.warnings:
        console.print(Text.assemble(("note: ", "yellow"), warning))


def _print_head(view: ReportView, console: Console) -> None:
    """The answer, and what is to be known before any verdict."""
    console.print(Text(view.overview.headline, style=_STYLE[view.overview.tone]))
    if view.overview.detail:
        console.print(Text(view.overview.detail))
    console.print(Text(view.title, style="dim"))
    for line in view.plan:
        console.print(Text(line))
    for line in view.missing:
        console.print(Text.assemble(("missing: ", "yellow"), line))
    for line in view.circumstances:
        console.print(Text.assemble(("circumstances: ", "yellow"), line))


def _print_groups(view: Overview, console: Console) -> None:
    """A line for each group, what is ruled out, and what to do next."""
    if view.lines:
        console.print()
        table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
        for name in ("group", "users", "metric", "difference", "all at once", "finding in"):
            table.add_column(name, justify="right" if name == "users" else "left", overflow="fold")
        for line in view.lines:
            marks = " ".join(f"{mark.metric}{mark.sign}" for mark in line.marks)
            cells = (line.users, line.metric, line.difference, line.interval, marks)
            table.add_row(Text(line.label, style=_SERVED[line.served]), *map(Text, cells))
        console.print(table)
    if view.n_more:
        console.print(Text(f"and {plural(view.n_more, 'more group')} below"))
    if view.ruled_out:
        console.print(Text(f"Ruled out: {view.ruled_out}."))
    for step in view.next_steps:
        console.print(Text.assemble(("next: ", "dim"), step))


def print_mitigation(view: MitigationView, console: Console) -> None:
    """Print what a mitigation did, the verdict first."""
    console.print(Text(view.headline, style="bold"))
    for stamp in view.stamps:
        console.print(Text(stamp, style="bold red"))
    console.print()
    for line in view.said:
        console.print(Text(line))
    for table in view.tables:
        console.print()
        console.print(rich_table(table))
    for note in view.notes:
        console.print(Text.assemble(("note: ", "yellow"), note))


def rich_table(view: TableView) -> Table:
    """A table of the view."""
    table = Table(
        title=Text(view.title, style="bold"),
        title_justify="left",
        caption=Text(view.note) if view.note else None,
        caption_justify="left",
    )
    for column, is_number in zip(view.columns, view.numeric, strict=True):
        table.add_column(column, justify="right" if is_number else "left", overflow="fold")
    for row in view.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
