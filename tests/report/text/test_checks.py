"""Notes that figures may be wrong are read before any figure, in every form of a report."""

from __future__ import annotations

import io

import polars as pl
import pytest
from rich.console import Console

from fairrec.report.audit_result import AuditResult
from fairrec.report.text import model_card, print_text, to_markdown
from fairrec.report.view import build_view
from tests.builders import audit

SAID = "held-out items count alike, whatever their"


@pytest.fixture(scope="module")
def result() -> AuditResult:
    users = pl.DataFrame({"user_id": range(40), "g": [*"xy"] * 20})
    lists = pl.DataFrame({"user_id": range(40), "item_id": [*range(8)] * 5, "rank": [1] * 40})
    test = pl.DataFrame({"user_id": range(40), "item_id": [*range(5)] * 8, "rating": [1, 5] * 20})
    return audit(lists, users, "g", test=test)


def test_they_stand_apart_from_the_notes(result):
    view = build_view(result.summary)
    (said,) = view.checks
    assert said.startswith(f"the test table: {SAID}")
    assert not any(SAID in note for note in view.warnings)


def test_they_are_read_first(result, tmp_path):
    view = build_view(result.summary)
    console = Console(width=500, file=io.StringIO(), record=True)
    print_text(view, console)
    printed, markdown = console.export_text(), to_markdown(view)
    assert printed.index(f"check: the test table: {SAID}") < printed.index("Ruled out")
    assert markdown.index(SAID) < markdown.index("| metric |")
    result.save(tmp_path / "audit")
    page = (tmp_path / "audit" / "report.html").read_text(encoding="utf-8")
    assert '<span class="flag">check</span>' in page
    for text in (model_card(result.summary), result._repr_html_()):
        assert SAID in text
