"""The report as text."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import fairrec
from fairrec.report.page.build import build_page_view
from fairrec.report.text.markdown import to_markdown
from fairrec.report.text.terminal import print_text
from fairrec.report.text.view import build_view
from fairrec.result.audit_result import AuditResult
from tests.grouped_options import group_options
from tests.report.text.planted_report import given_result, planted_result

GOLDEN = Path(__file__).parent / "golden.md"


def test_the_report_of_a_fixed_world_reads_as_agreed():
    # after a change of wording, read the new text and put it into golden.md
    assert to_markdown(build_view(planted_result().summary)) == GOLDEN.read_text()


def test_a_report_never_calls_a_model_fair():
    shown = to_markdown(build_view(planted_result().summary)).lower()
    for word in ("unbiased", "debiased", " fair ", "unfair"):
        assert word not in shown


def test_combinations_by_the_thousand_digits_are_not_written_out():
    summary = planted_result().summary
    for digits, said in (
        ("2097152", "(2,097,152 possible)"),
        ("9" * 15, f"({int('9' * 15):,} possible)"),
        ("2" * 1130, "(over 10^1129 possible)"),
    ):
        coverage = summary.coverage.model_copy(update={"n_full_possible": digits})
        other = summary.model_copy(update={"coverage": coverage})
        assert said in to_markdown(build_view(other)).replace("\\", "")


def texts_of(result: AuditResult) -> str:
    """All that the terminal, Markdown and the page say, and the result itself."""
    page = build_page_view(result.summary, result.group_table)
    console = Console(width=200, file=io.StringIO())
    view = build_view(result.summary)
    print_text(view, console)
    # tables without rows are not laid out
    shown = replace(page, ratios=page.ratios if page.ratios.table.rows else None)
    return "\n".join((console.file.getvalue(), to_markdown(view), str(shown)))


def values_of(values: list[float], group: list[str], **options) -> AuditResult:
    frame = pl.DataFrame({"user_id": range(len(values)), "group": group, "m": values})
    return fairrec.audit(
        **group_options(values=frame, by="group", permutations=99, min_support=2, **options)
    )


@pytest.mark.parametrize(
    ("values", "group", "says"),
    [
        ([0.5] * 40, ["a", "b"] * 20, "It is 0.500 for everyone, so groups cannot differ in it."),
        ([0.2, 0.8] * 20, ["a"] * 40, "nothing to compare it with"),
        # groups alike, users not
        ([0.2, 0.8, 0.8, 0.2] * 10, ["a", "b"] * 20, "No two full combinations"),
    ],
)
def test_where_no_group_differs_none_is_best_or_worst(values, group, says):
    result = values_of(values, group, better={"m": "higher"})
    text = texts_of(result)
    assert says in text
    assert result.summary.metrics["m"].most_advantaged == ()
    assert build_view(result.summary).ends.rows == ()
    assert not re.search(r"Best (and|full)|Worst full|\bbest 1|mark='(best|worst)'", text)


def test_values_of_one_column_are_named_together():
    summary = planted_result().summary
    about = next(iter(summary.attributes.values()))
    split = about.model_copy(update={"values": {"yes": 3, "no": 5}})
    told = {"lang[en]": split, "gender": about, "lang[fr]": split, "film[x]": about}
    title = build_view(summary.model_copy(update={"attributes": told})).title
    assert title.endswith("groups by lang (2 values), gender, film[x]")


def test_a_metric_without_a_better_end_is_never_called_better_or_worse():
    values = [0.1, 0.2] * 40 + [0.8, 0.9] * 20 + [0.3, 0.4] * 60
    result = values_of(values, ["a"] * 80 + ["b"] * 40 + ["c"] * 120)
    assert len(result.summary.metrics["m"].findings) > 1
    # a note tells that none is called worse, and why there are no ratios to the best
    none = result.summary.ratios.model_copy(update={"metrics": {}})
    told = result.summary.model_copy(update={"warnings": (), "ratios": none})
    text = re.sub(
        "no end is better|role='(best|worst) end'", "", texts_of(replace(result, summary=told))
    )
    assert re.findall(r".{30}\b(?:better|worse|best|worst)\b.{20}", text) == []


def test_in_given_circumstances_values_as_they_are_stand_beside_adjusted_differences():
    findings = build_view(given_result().summary).findings
    assert findings.title.startswith("Groups that differ from other users with the same tenure by")
    assert findings.columns[3:5] == ("value as it is", "adjusted difference")
    assert {*findings.spare} < {*findings.columns}
    assert build_view(planted_result().summary).findings.columns[3:5] == ("value", "difference")
