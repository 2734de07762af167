"""The report as text."""

from __future__ import annotations

from pathlib import Path

from fairrec.report.text.markdown import to_markdown
from fairrec.report.text.view import build_view
from tests.report.text.planted_report import planted_result

GOLDEN = Path(__file__).parent / "golden.md"


def test_the_report_of_a_fixed_world_reads_as_agreed():
    # after a change of wording, read the new text and put it into golden.md
    assert to_markdown(build_view(planted_result().summary)) == GOLDEN.read_text()


def test_a_report_never_calls_a_model_fair():
    shown = to_markdown(build_view(planted_result().summary)).lower()
    for word in ("unbiased", "debiased", " fair ", "unfair"):
        assert word not in shown
