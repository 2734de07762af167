"""The layout in Markdown."""

from __future__ import annotations

import html
import re

import pytest
from markdown_it import MarkdownIt

from fairrec.mitigation.page import mitigation_markdown
from fairrec.report.ratios import RatiosView
from fairrec.report.text import escape, table_lines, to_markdown
from fairrec.report.view import CarriedView
from tests.report.text.small_view import EMPTY, TABLE, mitigation_view, report_view


def test_what_has_a_meaning_in_markdown_is_read_as_text():
    text = r"a|b <i> [x](y) *b* _i_ # h `c` \n ~s~ &amp; $m$ ![p] {z} + "
    (inline,) = (
        token for token in MarkdownIt("commonmark").parse(escape(text)) if token.type == "inline"
    )
    assert "".join(child.content for child in inline.children) == text.strip()


LINKED = [
    *("http://evil.example/x", "HTTPS://evil.example", "ftp://evil.example", "http://localhost"),
    *("www.evil.example", "_www.evil.example", "*WWW.evil.example", "(www.evil.example)"),
    *("a@b.example", "user_name@b-c.example", "a+b@c.example", "a@b@c.d", "mailto:a@b.example"),
    *("xmpp:a@b.example/x", "git@evil.example:o/r.git", "http://a.b@c.d", "<a@b.c>"),
    *("[x](http://evil.example)", "![x](http://evil.example)", "<http://evil.example>"),
    *("[x]: http://evil.example", "[^1]: http://evil.example"),
    *("@octocat", "plan=@octocat/team", "(@octocat)", "a @octocat", "é@octocat", "\\@octocat"),
    *("#123", "owner/repo#123", "GH-123", "gh-7"),
]
"""What GitHub makes a link of, or notifies somebody by."""
SHAPES = ["1. list", "12. ", "- item", "---", "===", "+ item", "1) item", "    code", "\tcode"]
REFERENCE = re.compile(r"(?:^|[^0-9A-Za-z_])@\w|#\d|\bGH-\d|://|www\.|@[\w.-]*\.\w", re.IGNORECASE)


@pytest.mark.parametrize("text", LINKED)
def test_outside_text_becomes_no_link_and_notifies_nobody(text):
    assert REFERENCE.search(text)
    written = escape(text)
    assert not REFERENCE.search(written)
    shown = re.sub(r"\\(.)", r"\1", written.replace("<!-- -->", ""))
    assert shown == text


@pytest.mark.parametrize("text", ["ndcg@10, recall@5.", "12:30", "1.5", "-0.2", "a-b", "#a", "w.x"])
def test_numbers_and_metrics_are_written_as_they_are(text):
    assert escape(text).replace("\\#", "#") == text


@pytest.mark.parametrize("text", [*LINKED, *SHAPES])
@pytest.mark.parametrize("place", ["{}", "- {}", "**{}**", "### {}", "| a |\n|---|\n| {} |"])
def test_the_parser_of_github_sees_text(text, place):
    parser = pytest.importorskip("cmarkgfm")
    page = parser.github_flavored_markdown_to_html(place.format(escape(text)))
    plain_page = parser.github_flavored_markdown_to_html(place.format("some text"))
    assert re.findall(r"<\w+", page) == re.findall(r"<\w+", plain_page)
    # an @ and its name are in two pieces, so that what looks for mentions afterwards sees neither
    pieces = [html.unescape(piece) for piece in re.split(r"<[^>]*>", page)]
    assert not any(map(REFERENCE.search, pieces))
    assert text.strip() in "".join(pieces)


def test_text_of_several_lines_stays_in_its_row():
    assert escape("a\nb\r\n- c") == "a b - c"


def test_numbers_stand_to_the_right_and_a_bar_in_a_cell_is_no_new_cell():
    assert table_lines(TABLE) == [
        "| group | n |",
        "|---|---:|",
        r"| who=a\|b | 7 |",
        r"| \[red\]x\[/red\] | 12 |",
        "",
        "a note",
    ]
    assert table_lines(EMPTY) == ["| group |", "|---|"]


def test_verdicts_come_first_and_only_tables_with_rows_have_a_heading():
    lines = to_markdown(report_view()).splitlines()
    assert lines[0].startswith("# ")
    assert lines[2:8:2] == [r"**the \[i\]answer\[/i\]**", r"in \*detail\*", "10 users"]
    assert lines[8:14] == [
        "| group | users | metric | shrunken | all at once | finding in |",
        "|---|---:|---|---:|---:|---|",
        r"| who=a\|b | 7 | auc | -0.2 | -0.3 to -0.1 | auc▼ |",
        *("", "and 2 more below", ""),
    ]
    assert lines[14] == "Ruled out: none of the others."
    assert lines[16] == r"Next: do \[b\]it\[/b\]."
    assert lines[20:22] == [
        "| auc | **worse** | headline one. ruled out one. gap one. |",
        r"| m\|r | **inconclusive** | headline two. |",
    ]
    assert [line for line in lines if line.startswith("### ")] == [r"### title \*t\*"]
    # the search, the coverage, and the power of the metric that has one
    items = [line for line in lines if line.startswith("- ")]
    assert items == [r"- the \[b\]search\[/b\]", "- the coverage", r"- m\|r: power two."]
    assert lines[-1].endswith(r"fairrec audit \<file\>")


def test_ratios_have_a_heading_where_there_are_any():
    ratios = RatiosView("a is *below*.", ("to the best: x.",), TABLE, EMPTY, ("odd_one",))
    lines = to_markdown(report_view(findings=EMPTY, ratios=ratios)).splitlines()
    at = lines.index("### Ratios and inequality")
    assert lines[at + 2 : at + 9] == [
        *(r"a is \*below\*.", "", "to the best: x.", ""),
        *(r"#### title \*t\*", "", "| group | n |"),
    ]
    assert r"odd\_one" in lines[at:]
    assert "Ratios" not in to_markdown(report_view())


def test_what_carries_a_finding_is_said_below_it_with_its_neighbours():
    carried = (CarriedView("it is *both*.", TABLE), CarriedView("the other.", EMPTY))
    text = to_markdown(report_view(carried=carried, ends=TABLE))
    _, below, ends = text.split("### ")
    assert r"it is \*both\*." in below
    # its table below it; without rows the sentence alone
    assert below.count("| group | n |") == 2
    assert below.rstrip().endswith("the other.")
    assert "the other." not in ends


def test_who_is_missing_is_said_before_any_verdict():
    text = to_markdown(report_view(missing=("some *are* missing.", "more are.")))
    parts = ("10 users\n\n", r"some \*are\* missing." "\n\n", "more are.\n\n", "| metric |")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_notes_have_a_heading_where_there_are_any():
    for layout, view, named in (
        (to_markdown, report_view, "warnings"),
        (mitigation_markdown, mitigation_view, "notes"),
    ):
        without, with_notes = layout(view()), layout(view(**{named: ("odd_one",)}))
        assert with_notes.count("### ") == without.count("### ") + 1
        assert r"- odd\_one" in with_notes


def test_a_mitigation_begins_with_its_headline_and_its_stamps():
    text = mitigation_markdown(mitigation_view())
    parts = ("**the headline**", "a STAMP", "first said", r"then \[b\]said\[/b\]", "| group | n |")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "nothing there" not in text
