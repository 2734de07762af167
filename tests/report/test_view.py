"""The report as a whole: its words, its plan, notes to check first, and the catalogue."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import fairrec
from fairrec.report.audit_result import AuditResult
from fairrec.report.page.audit import page_html
from fairrec.report.text import model_card, to_markdown
from fairrec.report.view import build_view, catalogue_lines, plan_lines
from fairrec.result.schema import AuditSummary, PlanSummary, SettingsSummary
from fairrec.statistics.inequality import CatalogueExposure, ItemsShown
from tests.builders import audit, make_tables
from tests.grouped_options import group_options
from tests.report.items_audits import items_result
from tests.report.planted import planted
from tests.report.small_view import answer_text

GOLDEN = Path(__file__).parent / "golden.md"


def test_the_report_of_a_fixed_world_reads_as_agreed():
    # after a change of wording, read the new text and put it into golden.md
    assert to_markdown(build_view(planted().summary, planted().group_table)) == GOLDEN.read_text()


def test_a_report_never_calls_a_model_fair():
    shown = to_markdown(build_view(planted().summary)).lower()
    for word in ("unbiased", "debiased", " fair ", "unfair"):
        assert word not in shown


def texts_of(result: AuditResult) -> str:
    """All that the terminal and Markdown say."""
    view = build_view(result.summary, result.group_table)
    return "\n".join((answer_text(view.answer), to_markdown(view)))


def values_of(values: list[float], group: list[str], **options) -> AuditResult:
    frame = pl.DataFrame({"user_id": range(len(values)), "group": group, "m": values})
    return fairrec.audit(
        **group_options(values=frame, by="group", permutations=99, min_support=2, **options)
    )


@pytest.mark.parametrize(
    ("values", "group", "says"),
    [
        ([0.5] * 40, ["a", "b"] * 20, "It is 0.500 for everyone, so groups cannot differ in it."),
        ([0.2, 0.8] * 20, ["a"] * 40, "can be compared with others"),
        # groups alike, users not
        ([0.2, 0.8, 0.8, 0.2] * 10, ["a", "b"] * 20, "No significant difference"),
    ],
)
def test_where_no_group_differs_none_is_best_or_worst(values, group, says):
    result = values_of(values, group, better={"m": "higher"})
    text = texts_of(result)
    assert says in text
    assert result.summary.metrics["m"].most_advantaged == ()
    assert "intersection of all attributes, " not in text


def test_a_metric_without_a_better_end_is_never_called_better_or_worse():
    values = [0.1, 0.2] * 40 + [0.8, 0.9] * 20 + [0.3, 0.4] * 60
    result = values_of(values, ["a"] * 80 + ["b"] * 40 + ["c"] * 120)
    assert len(result.summary.metrics["m"].findings) > 1
    # a note says that none is called worse
    summary = result.summary.model_copy(update={"warnings": ()})
    text = texts_of(replace(result, summary=summary)).replace("neither direction is better", "")
    assert re.findall(r".{30}\b(?:better|worse|best|worst)\b.{20}", text) == []


SETTINGS = SettingsSummary(file="fairrec.toml", sha256="0123456789abcdef", options=("by", "alpha"))


def small_result():
    tables = make_tables()
    return fairrec.audit(
        tables.predictions,
        users=tables.users,
        by="gender",
        metrics="auc",
        statistics=fairrec.Statistics(permutations=9),
    )


def with_plan(*deviations: str, file: str = "plan.toml") -> AuditSummary:
    plan = PlanSummary(file=file, checksum="abc123" * 10, options=("by",), deviations=deviations)
    return small_result().summary.model_copy(update={"plan": plan})


def test_deviations_from_the_plan_stand_before_the_verdicts():
    summary = with_plan("alpha 0.1 (planned 0.05)", "by a\nb (planned a)")
    assert plan_lines(summary) == (
        "Planned (plan.toml, checksum abc123abc123), with 2 deviations.",
        "Deviates from the plan: alpha 0.1 (planned 0.05).",
        r"Deviates from the plan: by a\nb (planned a).",
    )
    view = build_view(summary)
    page = page_html(summary, small_result().group_table)
    for text in (answer_text(view.answer), to_markdown(view).replace("\\", ""), page):
        at = text.index("Deviates from the plan: alpha 0.1 (planned 0.05).")
        verdict = text.index('id="verdicts"') if text is page else text.index("auc", at)
        assert text.index("Planned (plan.toml") < at < verdict


def test_coverage_gini_index_and_values_seldom_shown_of_a_catalogue():
    kinds = {"a": (40, 2), "b": (60, 6), "all": (80, 70), "few": (3, 0)}
    part = CatalogueExposure(
        k=10,
        n_lists=1000,
        n_items=200,
        n_shown=50,
        gini=0.8,
        by_value={"kind": {v: ItemsShown(n_items=n, n_shown=m) for v, (n, m) in kinds.items()}},
    )
    summary = items_result().summary.model_copy(update={"catalogue": part})
    first, least = catalogue_lines(summary)
    assert "show 50 of 200 items (25%)" in first and "0.8" in first
    assert least == "The smallest shares shown at all: kind=a 5% of 40; kind=b 10% of 60."


SAID = "held-out items are equally relevant, whatever their"


@pytest.fixture(scope="module")
def result() -> AuditResult:
    users = pl.DataFrame({"user_id": range(40), "g": [*"xy"] * 20})
    lists = pl.DataFrame({"user_id": range(40), "item_id": [*range(8)] * 5, "rank": [1] * 40})
    test = pl.DataFrame({"user_id": range(40), "item_id": [*range(5)] * 8, "rating": [1, 5] * 20})
    return audit(lists, users, "g", test=test)


def test_they_are_read_first(result, tmp_path):
    view = build_view(result.summary)
    printed, markdown = answer_text(view.answer), to_markdown(view)
    assert printed.index(f"check: the test table: {SAID}") < printed.index("Ruled out")
    assert markdown.index(SAID) < markdown.index("| metric | verdict")
    result.save(tmp_path / "audit")
    page = (tmp_path / "audit" / "report.html").read_text(encoding="utf-8")
    assert '<span class="flag">check</span>' in page
    for text in (model_card(result.summary), result._repr_html_()):
        assert SAID in text
