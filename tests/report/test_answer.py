"""An answer as it is printed: few lines, none too wide, outside text as text."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from random import Random
from typing import get_args

import pytest
from rich.cells import cell_len
from rich.console import Console

from fairrec.report.answer import (
    HEIGHT,
    MOST_ROWS,
    WIDTH,
    Answer,
    AnswerTable,
    Block,
    Note,
    Row,
    Tone,
    answer_lines,
    print_answer,
)
from tests.report.small_view import ANSWER

COLUMNS = ("ndcg@5", "users", "value", "verdict")


def printed(answer: Answer, width: int = 100, **options) -> list[str]:
    console = Console(file=StringIO(), width=width, **options)
    print_answer(answer, console)
    return console.file.getvalue().splitlines()


def table_of(*blocks: Block) -> AnswerTable:
    return AnswerTable(COLUMNS, (False, True, True, False), blocks)


def block(name: str, n_rows: int, *worse: int, label: str = "v", **how) -> Block:
    rows = [
        Row(f"{label}{at}", ("100", "0.5", "worse" if at in worse else "inconclusive"))
        for at in range(n_rows)
    ]
    rows = [replace(row, served="worse") if at in worse else row for at, row in enumerate(rows)]
    return Block(name, tuple(rows), f"{n_rows} groups, {len(worse) or 'none'} worse", **how)


def plain_lines(answer: Answer, width: int = WIDTH) -> list[str]:
    return [line.plain for line in answer_lines(answer, width)]


def test_its_parts_are_printed_in_order_and_outside_text_is_no_markup():
    answer = replace(ANSWER, notes=(Note("check", "odd [bold]one"),))
    assert printed(answer) == [
        "the [i]answer[/i]",
        "in *detail*",
        "10 users",
        "check: odd [bold]one",
        "",
        "auc       users  difference  verdict",
        "who a|b       7        -0.2  worse",
        "town: 21 groups, none worse",
        "Ruled out: none of the others.",
        "m|r  inconclusive",
        "next: do [b]it[/b]",
        "page: audit/report.html",
    ]


@pytest.mark.parametrize("tone", get_args(Tone))
def test_the_headline_has_the_colour_of_its_tone_and_a_finding_that_of_its_end(tone):
    answer = replace(ANSWER, tone=tone)
    first, *others = printed(answer, force_terminal=True, color_system="standard")
    colour = {"found": 31, "clear": 32, "open": 33}[tone]
    assert first == f"\x1b[1;{colour}mthe [i]answer[/i]\x1b[0m"
    (row,) = [line for line in others if "a|b" in line]
    assert row.startswith("\x1b[31m")


def test_long_and_wide_names_are_cut_so_that_numbers_stay_in_their_columns():
    long = block("a very long name of an attribute", 2, label="value " * 30)
    wide = block("屬性的名稱非常長而且沒有空格", 2, 1, label="價值" * 40)
    lines = plain_lines(Answer("open", "x", table=table_of(long, wide)))
    header, *rows = lines[2:]
    assert max(map(cell_len, lines)) <= WIDTH
    # the ends of columns of numbers are below those of their names
    ends = [header.index(name) + len(name) for name in COLUMNS[1:3]]
    for row in rows:
        before = [row[: row.index(text) + len(text)] for text in ("100", "0.5")]
        assert [cell_len(part) for part in before] == ends
        assert "\u2026" in row


def test_a_sentence_that_is_too_long_ends_in_dots():
    said = " ".join(f"word{at}" for at in range(200))
    lines = plain_lines(Answer("open", said))
    assert len(lines) == 4 and lines[-1].endswith(" ...")
    assert max(map(cell_len, lines)) <= WIDTH
    assert " ".join(lines)[:-4] == said[: len(" ".join(lines)) - 4]


def test_of_too_many_rows_attributes_without_findings_take_a_line_the_last_first():
    blocks = [block("a", 5, 2), block("b", 4), block("c", 4), block("d", 3)]
    lines = plain_lines(Answer("found", "x", table=table_of(*blocks)))
    assert [line.split()[0] for line in lines[2:]] == [
        *("ndcg@5", "a", "v1", "v2", "v3", "v4", "b", "v1", "v2", "v3"),
        *("c:", "d:"),
    ]
    assert lines[-2:] == ["c: 4 groups, none worse", "d: 3 groups, none worse"]


def test_rows_of_findings_are_kept_when_their_attribute_is_shortened():
    blocks = [block(name, 8, 6, 7) for name in "abc"]
    lines = plain_lines(Answer("found", "x", table=table_of(*blocks)))
    assert sum("worse" in line and "100" in line for line in lines) == 6
    for name in "abc":
        assert f"{name}: 8 groups, 2 worse" in lines
        assert any(line.startswith(f"{name} v6") for line in lines)


def test_ranked_rows_are_cut_from_the_end_and_what_is_left_out_is_said():
    ranked = replace(block("", 40, *range(40)), is_ranked=True, in_short="more on the page")
    lines = plain_lines(Answer("found", "x", table=table_of(ranked)))
    rows = lines[3:]
    assert rows[-1] == "more on the page"
    assert [row.split()[0] for row in rows[:-1]] == [f"v{at}" for at in range(MOST_ROWS - 1)]


def test_of_many_notes_and_metrics_the_number_left_out_is_said():
    answer = replace(
        ANSWER,
        notes=tuple(Note("note", f"{at} {'long ' * 40}") for at in range(20)),
        others=tuple(f"metric{at}: inconclusive" for at in range(12)),
    )
    lines = plain_lines(answer)
    assert len(lines) <= HEIGHT
    shown = [sum(line.startswith(word) for line in lines) for word in ("note: ", "metric")]
    assert all(shown)
    left = [f"and {n - one} more: --verbose" for n, one in zip((20, 12), shown, strict=True)]
    assert {*left} <= {*lines}
    # nothing that is said last is lost
    assert lines[-2:] == ["next: do [b]it[/b]", "page: audit/report.html"]
    assert any(line.startswith("who a|b") for line in lines)


WORDS = ["word", "長い名前", "שם", "x" * 30, "x" * 90, "é", "[red]", "--option"]


def random_text(rng: Random, most: int = 60) -> str:
    return " ".join(rng.choices(WORDS, k=rng.choice([0, 1, 3, rng.randint(0, most)])))


def random_block(rng: Random) -> Block:
    rows = tuple(
        Row(
            random_text(rng, 5),
            (rng.choice(["1", "12,345"]), rng.choice(["-0.0123", "-"]), "inconclusive"),
            rng.choice([None, None, "worse", "better", "differs"]),
        )
        for _ in range(rng.choice([0, 2, 8, rng.randint(0, 70)]))
    )
    made = Block(
        random_text(rng, 5), rows, random_text(rng) or "short", is_ranked=rng.random() < 0.3
    )
    return made.shorten() if len(rows) > 8 and not made.is_ranked else made


def random_answer(rng: Random) -> Answer:
    def texts(most: int) -> tuple[str, ...]:
        return tuple(random_text(rng) for _ in range(rng.randint(0, most)))

    blocks = [random_block(rng) for _ in range(rng.randint(0, 9))]
    return Answer(
        "open",
        random_text(rng),
        about=texts(4),
        notes=tuple(Note("note", text) for text in texts(30)),
        table=table_of(*blocks) if rng.random() < 0.8 else None,
        sentences=texts(1),
        others=texts(11),
        next_steps=texts(3),
        page=rng.choice(["", "audit/report.html"]),
    )


@pytest.mark.parametrize("seed", range(100))
def test_no_answer_has_more_lines_or_is_wider_than_a_terminal(seed):
    answer = random_answer(Random(seed))
    lines = plain_lines(answer)
    assert sum(-(-max(1, cell_len(line)) // WIDTH) for line in lines) <= HEIGHT
    # a command is not broken, so that it can be copied
    assert max(cell_len(line) for line in lines if not line.startswith("next: ")) <= WIDTH
    if answer.page:
        assert lines[-1] == "page: audit/report.html"


def test_a_wider_terminal_changes_nothing_and_a_narrow_one_is_not_exceeded():
    assert printed(ANSWER, width=300) == printed(ANSWER, width=WIDTH)
    said = replace(ANSWER, headline="word " * 20)
    assert max(map(cell_len, printed(said, width=50))) <= 50
