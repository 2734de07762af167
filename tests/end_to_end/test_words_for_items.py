"""What is said of an audit of items says items, and what users alone have is not said."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

import fairrec
from fairrec.comparison.words import build_comparison_view, comparison_markdown
from fairrec.core.audited_entity import ITEMS, USERS, Unit
from fairrec.report.audit_result import AuditResult
from fairrec.report.text import model_card, to_markdown
from fairrec.report.view import build_view
from tests.report.items_audits import OUTSIDE, items_result
from tests.report.small_view import answer_text

OF_USERS = re.compile(r"\busers?\b|\beveryone\b|\bserved\b|\bwho\b|\bnobody\b", re.IGNORECASE)
ALLOWED_FOR = re.compile(r"another sample of users; the \w+ stay as they are\.")
"""Intervals of items tell what other users would change."""
PROVIDERS = Unit("provider", "providers")
AUDITS: dict[str, dict[str, Any]] = {
    "as usual": {},
    "with an amount": {"tolerance": "5%"},
    "among alike": {"adjust_for": ("stock",)},
    "of few": {"min_support": 250},
    "untested": {"permutations": 0},
    "constant": {"metrics": ("same",)},
    "without a finding": {"metrics": ("share",), "depth": 1},
    "undefined": {"metrics": ("merit",)},
}


def words_of_users(text: str) -> list[str]:
    """Each with what is around it, but for outside text and what intervals allow for."""
    text = ALLOWED_FOR.sub("", text)
    text = text.replace(OUTSIDE, "").replace("per_user.parquet", "").replace("user_id", "")
    return [text[max(0, at.start() - 60) : at.end() + 40] for at in OF_USERS.finditer(text)]


class _Read(HTMLParser):
    """What a reader of a page sees or hears, and the data of its charts."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.data = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._inside = given.get("id") or tag if tag in ("script", "style") else ""
        for name in ("aria-label", "title", "alt", "placeholder"):
            self.said.append(given.get(name) or "")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "payload":
            self.data += data
        elif not self._inside:
            self.said.append(data)


def read_page(page: str) -> str:
    parser = _Read()
    parser.feed(page)
    drawn = json.loads(parser.data) if parser.data else {}
    return "\n".join([*parser.said, json.dumps(drawn, ensure_ascii=False)])


def everything_said(result: AuditResult) -> dict[str, str]:
    view = build_view(result.summary, result.group_table)
    page = result.page()
    return {
        "repr": repr(result),
        "text": answer_text(view.answer),
        "Markdown": to_markdown(view),
        "model card": model_card(result.summary),
        "notebook": read_page(result._repr_html_()),
        "page": read_page(page),
        # what the script writes while it is used
        "script": " ".join(re.findall(r"\} (\w+)`", page)),
    }


@pytest.mark.parametrize(
    ("how", "unit"), [*((how, ITEMS) for how in AUDITS), ("as usual", PROVIDERS)]
)
def test_an_audit_of_items_never_speaks_of_users(how: str, unit: Unit):
    for where, text in everything_said(items_result(unit, **AUDITS[how])).items():
        assert words_of_users(text) == [], where
        assert unit.many in text or where == "script", where


def test_the_same_audit_of_users_does():
    # or the test above could not fail
    for where, text in everything_said(items_result(USERS)).items():
        assert words_of_users(text) or where == "script", where


def test_a_comparison_of_items_never_speaks_of_users():
    found = fairrec.compare(items_result(), items_result(scale=0.8), tolerance="1%")
    view = build_comparison_view(found.summary, found.changes)
    said = {
        "repr": repr(found),
        "text": answer_text(view.answer),
        "Markdown": comparison_markdown(view),
        "notebook": read_page(found._repr_html_()),
        "page": read_page(found.page()),
        "notes": "\n".join(found.summary.notes),
    }
    for where, text in said.items():
        assert words_of_users(text) == [], where
    assert "All items" in said["page"]
    assert "items share the places of lists" in said["text"]
