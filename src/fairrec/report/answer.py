"""The answer of a command: a sentence, a table, what is ruled out, what to do next.

It is printed in at most `HEIGHT` lines; notebooks and pages show the same in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.text import Text

WIDTH, HEIGHT = 80, 24
"""Of what is printed, in columns and lines."""
MOST_ROWS = 12
"""Rows of a table before blocks without anything significant are printed in one line each."""
LEAST_ROWS = 6
"""Rows of a table that stay, however many sentences there are."""
LONGEST_TEXT = 3
LONGEST_HEADLINE = 4
LONGEST_STEP = 4
LONGEST_ABOUT = 6
"""Lines of a sentence that is printed; the page and `--verbose` have all of it."""
SHORTEST_LABEL, LONGEST_NAME = 8, 12
_MORE = " ..."
"""At the end of a sentence of which more is elsewhere."""

Tone = Literal["found", "open", "clear"]
"""Something is worse; nothing is decided; a harm beyond the tolerance is ruled out."""
Served = Literal["worse", "differs", "better"]
TONE_STYLE: dict[Tone, str] = {"found": "bold red", "clear": "bold green", "open": "bold yellow"}
SERVED_STYLE: dict[Served | None, str] = {"worse": "red", "better": "blue"}


@dataclass(frozen=True, slots=True)
class Row:
    """A group and its numbers as text; `served` where it differs significantly."""

    label: str
    cells: tuple[str, ...]
    served: Served | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """The groups of one attribute.

    Parameters
    ----------
    name : of the attribute; empty where labels have the attributes
    in_short : one line about the groups that are not significant, to print in their place
    is_short : whether there are too many groups to print all of them
    is_ranked : whether the first rows are the ones to print where there is no room for all, instead
        of those that are significant
    all_rows : where it is short, what it was before
    """

    name: str
    rows: tuple[Row, ...]
    in_short: str
    is_short: bool = False
    is_ranked: bool = False
    all_rows: tuple[Row, ...] = ()

    def shorten(self) -> Block:
        """Only what is significant, as rows."""
        rows = tuple(row for row in self.rows if row.served is not None)
        return Block(self.name, rows, self.in_short, is_short=True, all_rows=self.rows)

    @property
    def n_lines(self) -> int:
        """How many lines it takes."""
        return len(self.rows) + bool(self.is_short and self.in_short)


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """Numbers by group.

    Parameters
    ----------
    columns : the first is that of labels
    is_number : whether cells are numbers; the label is none
    """

    columns: tuple[str, ...]
    is_number: tuple[bool, ...]
    blocks: tuple[Block, ...]

    @property
    def n_lines(self) -> int:
        """How many lines its rows take."""
        return _n_lines(self.blocks)

    def fit(self, room: int) -> AnswerTable:
        """The same in at most `room` lines, the header aside.

        Blocks take a line each where nothing in them is significant, the last first; then rows go
        from the end, then blocks.
        """
        blocks = list(self.blocks)
        order = sorted(
            range(len(blocks)), key=lambda at: (any(r.served for r in blocks[at].rows), -at)
        )
        for at in order:
            block = blocks[at]
            is_whole = block.in_short and not block.is_short and not block.is_ranked
            if _n_lines(blocks) > room and is_whole:
                blocks[at] = block.shorten()
        for at in reversed(range(len(blocks))):
            block = blocks[at]
            over = _n_lines(blocks) - room
            if over > 0 and block.rows and block.in_short:
                # its line in short is one more
                n_rows = max(1, len(block.rows) - over - (not block.is_short))
                blocks[at] = Block(block.name, block.rows[:n_rows], block.in_short, is_short=True)
        if _n_lines(blocks) > room:
            n = len(blocks)
            while order and sum(blocks[at].n_lines for at in order) >= room:
                del order[0]
            more = f"and {n - len(order)} more: --verbose"
            blocks = [blocks[at] for at in sorted(order)] + [Block("", (), more, is_short=True)]
        return AnswerTable(self.columns, self.is_number, tuple(blocks))


def _n_lines(blocks: Sequence[Block]) -> int:
    return sum(block.n_lines for block in blocks)


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence that is marked, such as a check to make before anything is believed."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What is read first, in this order.

    Parameters
    ----------
    headline : which group, in which metric, by how much, how sure
    about : what was audited
    notes : what is to be known before any number
    sentences : what is ruled out, above all
    others : a line for each other metric
    next_steps : what to do, the nearest first
    page : where all of it is
    """

    tone: Tone
    headline: str
    about: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    table: AnswerTable | None = None
    sentences: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    page: str = ""


def print_answer(answer: Answer, console: Console) -> None:
    """Print an answer in at most `HEIGHT` lines. Outside text is never read as markup."""
    for line in answer_lines(answer, min(WIDTH, console.width)):
        console.print(line, soft_wrap=True)


def answer_lines(answer: Answer, width: int = WIDTH, height: int = HEIGHT) -> list[Text]:
    """The lines of an answer; what does not fit is on the page and under `--verbose`."""
    style, table = TONE_STYLE[answer.tone], answer.table
    head = [Text(line, style) for line in _wrap(answer.headline, width, LONGEST_HEADLINE)]
    about = [Text(line) for text in answer.about for line in _wrap(text, width, 2)]
    head += about[:LONGEST_ABOUT]
    sentences = [Text(line) for text in answer.sentences for line in _wrap(text, width)]
    # a command stays on one line, to be copied whole, however many the terminal makes of it
    longest = LONGEST_STEP * width - len("next: ")
    last = [Text.assemble(("next: ", "dim"), _cut(step, longest)) for step in answer.next_steps[:1]]
    if answer.page:
        last.append(Text.assemble(("page: ", "dim"), answer.page))
    n_last = sum(-(-max(1, line.cell_len) // width) for line in last)
    room = height - len(head) - len(sentences) - n_last
    # with an empty line and the header
    n_rows = 2 + table.fit(MOST_ROWS).n_lines if table else 0
    for most in (LONGEST_STEP, 2):
        # sentences are cut only where there is no room for them
        notes = [_marked(note, width, most) for note in answer.notes]
        others = [[*map(Text, _wrap(text, width, most))] for text in answer.others]
        if sum(map(len, [*notes, *others])) + n_rows <= room:
            break
    room -= min(2 + LEAST_ROWS, n_rows)
    notes = _take(notes, max(1, min(room - 1, max(3, room - len(others) + 2))))
    others = _take(others, max(1, room - sum(map(len, notes))))
    before, after = [*head, *chain(*notes)], [*sentences, *chain(*others), *last]
    if table is None:
        return [*before, *after]
    room = height - len(before) - len(after) - n_last + len(last) - 2
    shown = table_lines(table.fit(min(MOST_ROWS, room)), width)
    return [*before, Text(""), *shown, *after]


def table_lines(table: AnswerTable, width: int = WIDTH) -> list[Text]:
    """A header, and a line for each row; long labels are cut."""
    rows = [row for block in table.blocks for row in block.rows]
    texts = [table.columns[1:], *(row.cells for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
    names = [cell_len(block.name) for block in table.blocks if block.rows]
    indent = min(max(names, default=0), LONGEST_NAME)
    indent += bool(indent)
    label = indent + max((cell_len(row.label) for row in rows), default=0)
    room = width - sum(widths) - 2 * len(widths)
    label = max(SHORTEST_LABEL, min(max(label, cell_len(table.columns[0])), room))

    def line(first: str, cells: Sequence[str], style: str = "") -> Text:
        padded = [
            _pad(cell, own, is_number=is_number)
            for cell, own, is_number in zip(cells, widths, table.is_number[1:], strict=True)
        ]
        return Text("  ".join([_pad(first, label), *padded]).rstrip(), style)

    lines = [line(table.columns[0], table.columns[1:], "bold")]
    for block in table.blocks:
        name = block.name
        for row in block.rows:
            first = f"{_pad(name, indent - 1)} {row.label}" if block.name else row.label
            lines.append(line(_cut(first, label), row.cells, SERVED_STYLE.get(row.served, "")))
            name = ""
        if block.is_short and block.in_short:
            lines.append(Text(_cut(f"{block.name}: {block.in_short}".lstrip(": "), width)))
    return lines


def _take(parts: list[list[Text]], room: int) -> list[list[Text]]:
    """As many of the first parts as there is room for, and how many are left out."""
    if sum(map(len, parts)) <= room:
        return parts
    kept: list[list[Text]] = []
    while sum(map(len, kept)) + len(parts[len(kept)]) < room:
        kept.append(parts[len(kept)])
    return [*kept, [Text(f"and {len(parts) - len(kept)} more: --verbose")]]


def _marked(note: Note, width: int, longest: int) -> list[Text]:
    """A note in a few lines, its kind in colour."""
    first, *rest = map(Text, _wrap(f"{note.kind}: {note.text}", width, longest))
    first.stylize("yellow", 0, len(note.kind) + 1)
    return [first, *rest]


def _wrap(text: str, width: int, longest: int = LONGEST_TEXT) -> list[str]:
    """A sentence in a few lines; nothing is broken within a word but what is longer than a line."""
    lines = [""]
    for word in re.findall(r"\S+\s*", text):
        for part in chop_cells(word, width) if cell_len(word.rstrip()) > width else [word]:
            if cell_len((lines[-1] + part).rstrip()) > width:
                lines.append("")
            lines[-1] += part
    lines = [line.rstrip() for line in lines]
    if len(lines) <= longest:
        return lines
    last = lines[longest - 1]
    while cell_len(last) > width - len(_MORE) and " " in last:
        last = last.rpartition(" ")[0].rstrip()
    return [*lines[: longest - 1], set_cell_size(last, width - len(_MORE)).rstrip() + _MORE]


def _cut(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1).rstrip()}\u2026"


def _pad(text: str, width: int, *, is_number: bool = False) -> str:
    text = _cut(text, width)
    space = " " * (width - cell_len(text))
    return space + text if is_number else text + space
