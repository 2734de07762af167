"""The view in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fairrec.comparison.view import ComparisonView
from fairrec.inputs.notes import CHECK_FIRST
from fairrec.mitigation.view import MitigationView
from fairrec.report.text.findings import Served
from fairrec.report.text.overview import Overview
from fairrec.report.text.verdict import Tone, said_of
from fairrec.report.text.view import ReportView
from fairrec.report.words import TableView, plural

_SERVED: dict[Served, str] = {"worse": "red", "better": "blue", "differs": ""}
_STYLE: dict[Tone, str] = {"found": "bold red", "clear": "bold green", "open": "bold yellow"}


def print_text(view: ReportView, console: Console) -> None:
    """Print the view, the answer first. Outside text is never read as markup."""
    _print_head(view, console)
    _print_groups(view.overview, console)
    for verdict in view.verdicts:
        head = Text.assemble(
            "\n", (verdict.metric, "bold"), "  ", (verdict.status_said, _STYLE[verdict.tone])
        )
        console.print(head)
        for sentence in said_of(verdict):
            if sentence:
                console.print(Padding(Text(sentence), (0, 0, 0, 2), expand=False))
    if view.findings.rows:
        console.print()
        console.print(rich_table(view.findings, console.width))
    for line in view.explained:
        console.print(Text(line))
    for carried in view.carried:
        console.print(Text(carried.sentence))
    if view.ends.rows:
        console.print()
        console.print(rich_table(view.ends, console.width))
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
    for line in filter(None, (view.called, view.title)):
        console.print(Text(line, style="dim"))
    for line in view.plan:
        console.print(Text(line))
    for line in view.checks:
        console.print(Text.assemble((CHECK_FIRST, "bold yellow"), line))
    for line in view.missing:
        console.print(Text.assemble(("missing: ", "yellow"), line))
    for line in view.circumstances:
        console.print(Text.assemble(("circumstances: ", "yellow"), line))


def _print_groups(view: Overview, console: Console) -> None:
    """A line for each group, what is ruled out, and what to do next."""
    if view.lines:
        console.print()
        table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
        for at, name in enumerate(view.columns):
            table.add_column(name, justify="right" if at == 1 else "left", overflow="fold")
        for line in view.lines:
            label, *cells = line.cells
            table.add_row(Text(label, style=_SERVED[line.served]), *map(Text, cells))
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
        console.print(rich_table(table, console.width))
    for note in view.notes:
        console.print(Text.assemble(("note: ", "yellow"), note))


def print_comparison(view: ComparisonView, console: Console) -> None:
    """Print what became of the groups, the answer first."""
    console.print(Text(view.headline, style=_STYLE[view.tone]))
    for line in (view.about, view.how):
        console.print(Text(line, style="dim"))
    console.print()
    everyone, groups = replace(view.everyone, title=f"All {view.unit.many}"), view.groups
    # the page and Markdown have all columns
    for column in everyone.spare:
        everyone = everyone.without(column)
    for column in groups.spare:
        groups = groups.without(column)
    console.print(rich_table(everyone, console.width))
    for metric in view.metrics:
        console.print(Text.assemble((metric.metric, "bold"), ": ", " ".join(metric.said)))
    if groups.rows:
        console.print()
        console.print(rich_table(groups, console.width))
    for what, base, candidate in view.differences.rows:
        console.print(Text(f"also differs: {what} ({base} → {candidate})", style="dim"))
    for note in view.notes:
        console.print(Text.assemble(("note: ", "yellow"), note))


def rich_table(view: TableView, width: int) -> Table:
    """A table of the view, as wide as a terminal at most.

    Where words would be broken, columns that can be spared are left out, and it is said.
    """
    left_out: list[str] = []
    for column in view.spare:
        if _too_wide(_words(view), width) <= 0:
            break
        view = view.without(column)
        left_out.append(column)
    note = view.note
    if left_out:
        note = f"{note} Left out, for want of width: {', '.join(left_out)}.".strip()
    table = Table(
        title=Text(view.title, style="bold"),
        title_justify="left",
        caption=Text(note) if note else None,
        caption_justify="left",
    )
    for column, is_number, own in zip(
        view.columns, view.numeric, _widths(view, width), strict=True
    ):
        side: JustifyMethod = "right" if is_number else "left"
        table.add_column(column, justify=side, overflow="fold", width=own)
    for row in view.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _widths(view: TableView, width: int) -> Sequence[int | None]:
    """Of each column, so that no word is broken; left to the table where that cannot be."""
    widths = _words(view)
    room = -_too_wide(widths, width)
    if room < 0:
        return [None] * len(widths)
    texts = [max(map(cell_len, cells), default=0) for _, *cells in _by_column(view)]
    # what is short first, so that what room is left goes to the longest text
    for at in sorted(range(len(widths)), key=lambda at: texts[at]):
        more = min(room, max(0, texts[at] - widths[at]))
        widths[at] += more
        room -= more
    return widths


def _too_wide(widths: list[int], width: int) -> int:
    """By how much columns do not fit, with the lines between them."""
    return sum(widths) + 3 * len(widths) + 1 - width


def _words(view: TableView) -> list[int]:
    """The longest word of each column."""
    return [
        max((cell_len(word) for text in texts for word in text.split()), default=0)
        for texts in _by_column(view)
    ]


def _by_column(view: TableView) -> list[tuple[str, ...]]:
    return [*zip(view.columns, *view.rows, strict=True)]
