"""The layout in a terminal."""

from __future__ import annotations

from io import StringIO
from typing import get_args

import pytest
from rich.console import Console

from fairrec.mitigation.page import print_mitigation
from fairrec.report.ratios import RatiosView
from fairrec.report.text import print_text, rich_table
from fairrec.report.verdict import Status, Verdict
from fairrec.report.view import CarriedView
from fairrec.report.words import TableView
from tests.report.text.small_view import EMPTY, TABLE, mitigation_view, report_view


def printed(layout, view, **options) -> str:
    console = Console(file=StringIO(), width=100, **options)
    layout(view, console)
    return console.file.getvalue()


def in_order(text: str, *parts: str) -> bool:
    places = [text.index(part) for part in parts]
    return places == sorted(places)


def test_verdicts_come_first_and_outside_text_is_no_markup():
    text = printed(print_text, report_view(warnings=("odd [bold]one",)))
    assert in_order(
        text,
        *(
            "the [i]answer[/i]",
            "in *detail*",
            "10 users",
            "who=a|b",
            "and 2 more groups below",
            "Ruled out: none of the others.",
            "next: do [b]it[/b]",
            "auc  worse",
            "  headline one.",
            "  ruled out one.",
            "  gap one.",
            "m|r  inconclusive",
        ),
        *("headline two.", "power two.", "[red]x[/red]", "the [b]search[/b]", "the coverage"),
        "note: odd [bold]one",
    )
    assert "nothing there" not in text


def test_who_is_missing_is_said_before_any_verdict():
    text = printed(print_text, report_view(missing=("some [b]are[/b].", "more are.")))
    assert in_order(
        text, "10 users", "missing: some [b]are[/b].", "missing: more are.", "who=a|b", "auc  worse"
    )


def test_of_ratios_only_what_is_beyond_chance_is_printed():
    ratios = RatiosView("a is [b]below[/b].", ("to the best: x.",), TABLE, TABLE, ("odd",))
    text = printed(print_text, report_view(findings=EMPTY, ratios=ratios))
    assert in_order(text, "headline two.", "a is [b]below[/b].", "the coverage")
    assert "to the best" not in text and text.count("who=a|b") == 1 and "odd" not in text


def test_what_carries_a_finding_is_said_below_it_in_a_sentence():
    carried = (CarriedView("it is [b]both[/b].", TABLE),)
    text = printed(print_text, report_view(carried=carried))
    assert in_order(text, "a note", "it is [b]both[/b].", "the coverage")
    assert text.count("who=a|b") == 2


OPEN = {
    *("inconclusive", "same for everyone", "same for all", "not tested", "differs"),
    *("differs beyond tolerance", "differs"),
}
CLEAR = {"within tolerance"}


def test_a_verdict_has_its_colour():
    for status in get_args(Status):
        colour = "1;33" if status in OPEN else "1;32" if status in CLEAR else "1;31"
        view = report_view(verdicts=(Verdict("auc", status, "", "", "", ""),))
        text = printed(print_text, view, force_terminal=True, color_system="standard")
        assert f"\x1b[{colour}m{status}" in text


def test_a_mitigation_begins_with_its_headline_and_its_stamps():
    text = printed(print_mitigation, mitigation_view(notes=("odd",)))
    assert in_order(
        text, "the headline", "a STAMP", "first said", "then [b]said[/b]", "who=a|b", "note: odd"
    )
    assert "nothing there" not in text


def test_numbers_stand_to_the_right():
    table = rich_table(TABLE, 100)
    assert [column.justify for column in table.columns] == ["left", "right"]
    assert [[str(cell) for cell in column.cells] for column in table.columns] == [
        ["who=a|b", "[red]x[/red]"],
        ["7", "12"],
    ]
    assert str(table.caption) == "a note"


WIDE = TableView(
    "t",
    ("metric", "group", "difference", "one at a time"),
    (False, False, True, True),
    (("ndcg@5", "gender=F, age=56+", "−0.257", "−0.310 to −0.207"),),
    "A note.",
    spare=("one at a time", "metric"),
)


@pytest.mark.parametrize(
    ("width", "left_out"),
    [
        (100, ()),
        (60, ()),
        (50, ()),
        (44, ()),
        (43, ("one at a time",)),
        (34, ("one at a time", "metric")),
    ],
)
def test_where_words_would_be_broken_columns_are_left_out_and_it_is_said(width, left_out):
    table = rich_table(WIDE, width)
    kept = [name for name in WIDE.columns if name not in left_out]
    assert [column.header for column in table.columns] == kept
    said = f" Left out, for want of width: {', '.join(left_out)}." if left_out else ""
    assert str(table.caption) == f"A note.{said}"
    console = Console(file=StringIO(), width=width)
    console.print(table)
    assert all(len(line) <= width for line in console.file.getvalue().splitlines())
    words = {*console.file.getvalue().split()}
    assert {"gender=F,", "age=56+", "−0.257"} <= words


def test_what_the_auditor_calls_it_is_said_below_the_answer():
    text = printed(print_text, report_view(called="spring [b] · ranker@2"))
    assert in_order(text, "in *detail*", "spring [b] · ranker@2", "10 users")
