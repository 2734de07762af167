"""The outcome of a gate for a pull request."""

from __future__ import annotations

from markdown_it import MarkdownIt

from fairrec.gating.formats import to_markdown
from tests.gating.judged_gate import HOSTILE, gate_of, rule_of


def test_one_row_a_rule_whatever_the_text():
    rules = (rule_of("failed", text=HOSTILE.replace("\n", " ")), rule_of("inconclusive", "warn"))
    text = to_markdown(gate_of(*rules, title="<b>spring</b>"), explain=True)
    page = MarkdownIt("commonmark").enable("table").render(text)
    assert page.count("<tr>") == 3 and page.count("<td") == 8
    assert "<i>" not in page and "<b>" not in page
    assert "warning only" in page and "explained measured" in page
    assert page.startswith("<h3>FairRec: Failed: 1 of 1 check.</h3>")
