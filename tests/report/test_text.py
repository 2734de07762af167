"""The report as Markdown, and as a section of a model card."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from markdown_it import MarkdownIt

from fairrec.report.audit_result import AuditResult
from fairrec.report.text import escape, model_card, table_lines, to_markdown
from tests.builders import audit, two_groups
from tests.report.small_view import EMPTY, TABLE, report_view


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
        "| auc | users | difference | verdict |",
        "|---|---:|---:|---|",
        r"| who a\|b | 7 | -0.2 | worse |",
        *("", "town: 21 groups, none worse", ""),
    ]
    assert lines[14] == "Ruled out: none of the others."
    assert lines[16] == r"- m\|r  inconclusive"
    assert lines[18:21:2] == [r"Next: do \[b\]it\[/b\]", "Next: do that"]
    at = lines.index("### Verdicts")
    assert lines[at + 4 : at + 6] == [
        "| auc | worse | headline one. gap one. | ruled out one. |",
        r"| m\|r | inconclusive | headline two. power two. |  |",
    ]
    headings = [line for line in lines if line.startswith("### ")]
    assert headings == ["### Verdicts", r"### title \*t\*"]
    assert "- the coverage" in lines
    assert lines[-1].endswith("    fairrec audit <file>")


HOSTILE = "<script>x</script> | [a](http://b) `c` **d** <!-- fairrec card: end --> # e"


def worse_off(**options: Any) -> AuditResult:
    usual = {"metrics": "mrr@2", "tolerance": "mrr@2=0.1", "permutations": 199}
    return audit(*two_groups(80), by="group", **{**usual, **options})


def read(text: str) -> tuple[list[str], dict[str, list[list[str]]], str]:
    """Headings, the tables below them as rows of text, and the HTML."""
    parser = MarkdownIt("commonmark").enable("table")
    headings, tables, row = [], {}, []
    tokens = parser.parse(text)
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.type == "heading_open":
            headings.append(token.content)
        elif token.type == "tr_open":
            row = []
            tables.setdefault(headings[-1], []).append(row)
        elif before is not None and before.type in ("td_open", "th_open"):
            row.append(_plain(token))
    return headings, tables, parser.render(text)


def _plain(token: Any) -> str:
    return "".join(child.content for child in token.children)


def test_a_card_has_who_the_verdict_findings_ratios_and_limits():
    result = worse_off(title="Spring", model_name="ranker", model_version="2")
    headings, tables, html = read(model_card(result.summary))
    assert headings == [
        "Fairness evaluation",
        "Audited users",
        "Verdicts",
        "Findings: groups that differ significantly from all other users",
        "Ratios: each group beside the best group and beside all other users",
        "Limits",
    ]
    for said in ("80 users", "ranker@2", "Spring", "mrr@2=0.1", "do not rule out harm"):
        assert said in html
    assert f"FairRec {result.summary.fairrec_version}" in html
    (_, verdict) = tables["Verdicts"]
    assert verdict[:2] == ["mrr@2", "worse beyond tolerance"]
    columns, finding = tables[headings[3]]
    found = dict(zip(columns, finding, strict=True))
    assert (found["group"], found["users"]) == ("group=odd", "40")
    assert found["verdict"] == "worse beyond tolerance"
    assert found["shrunken"].startswith("\u2212")
    columns, *rows = tables[headings[4]]
    # nobody of the odd users is above the median, and all others are
    ratios = [dict(zip(columns, row, strict=True)) for row in rows]
    assert {row["group"]: row["impact ratio"] for row in ratios} == {
        one["group"]["group"].join(["group=", ""]): f"{one['impact_ratio']:.3f}"
        for one in result.ratios.iter_rows(named=True)
    }


def test_outside_text_stays_text():
    names = ["even", HOSTILE] * 40
    predictions, users = two_groups(80, group=names)
    result = audit(predictions, users, "group", title=HOSTILE, permutations=199)
    text = model_card(result.summary)
    # not even the mark at which the section ends in its file
    assert "<!--" not in text.replace("<!-- -->", "")
    headings, tables, html = read(text)
    html = html.replace("<!-- -->", "")
    assert len(headings) == 6
    assert not re.search(r"<(script|a|code|img|!--)", html)
    assert any(HOSTILE[:30] in cell for row in tables["Verdicts"] for cell in row)
