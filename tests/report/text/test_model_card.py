"""The section of a model card, read by a parser of Markdown."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest
from markdown_it import MarkdownIt

from fairrec.report.text.markdown import model_card
from fairrec.result.audit_result import AuditResult
from tests.builders import audit, make_tables, two_groups

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
        "Who was audited",
        "Verdict",
        "Groups that differ from all other users by more than chance, worst first",
        "Impact ratios",
        "Limits",
    ]
    for said in ("80 users", "ranker@2", "Spring", "mrr@2=0.1", "does not absolve"):
        assert said in html
    assert f"FairRec {result.summary.fairrec_version}" in html
    (_, verdict) = tables["Verdict"]
    assert verdict[:2] == ["mrr@2", "worse by more than matters"]
    columns, finding = tables[headings[3]]
    found = dict(zip(columns, finding, strict=True))
    assert (found["group"], found["users"]) == ("group=odd", "40")
    assert found["verdict"] == "worse by more than matters"
    assert found["shrunken"].startswith("\u2212")
    columns, *rows = tables["Impact ratios"]
    # nobody of the odd users is above the median, and all others are
    ratios = [dict(zip(columns, row, strict=True)) for row in rows]
    assert {row["group"]: row["impact ratio"] for row in ratios} == {
        one["group"]["group"].join(["group=", ""]): f"{one['impact_ratio']:.3f}"
        for one in result.ratios.iter_rows(named=True)
    }


def test_every_row_has_as_many_cells_as_its_head():
    tables = make_tables()
    result = audit(
        tables.predictions,
        tables.users,
        ["gender", "age:3", "member"],
        metrics="ndcg@5,urp@5",
        history=tables.history,
    )
    for rows in read(model_card(result.summary))[1].values():
        assert len({len(row) for row in rows}) == 1
    assert "Not known: gender of" in model_card(result.summary)


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
    assert any(HOSTILE[:30] in cell for row in tables["Verdict"] for cell in row)


@pytest.mark.parametrize(
    "options", [{"permutations": 0}, {"tolerance": None}, {"metrics": "urp@2"}]
)
def test_what_was_not_tested_or_has_no_ratios_makes_a_card_too(options):
    predictions, users = two_groups(80)
    history = pl.DataFrame({"user_id": ["u1"], "item_id": [1]})
    usual = {"metrics": "mrr@2", "permutations": 39, "history": history}
    result = audit(predictions, users, "group", **{**usual, **options})
    headings = read(model_card(result.summary, about="The lists were re-ranked"))[0]
    assert [headings[0], headings[-1]] == ["Fairness evaluation", "Limits"]
    assert "- The lists were re-ranked" in model_card(result.summary, "The lists were re-ranked")
