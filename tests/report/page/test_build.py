from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.report.page.build import build_page_view
from fairrec.report.page.view import PageLimits, PageView
from fairrec.result.audit_result import AuditResult
from tests.builders import two_groups
from tests.worlds import ATTRIBUTES, random_world

GOLDEN = Path(__file__).parent / "golden_page.txt"
FIRST = 6


def planted_result(**options: Any) -> AuditResult:
    users, predictions = random_world(2000, {"gender": "F", "age": "65+"}, effect=2.5, seed=1)
    settings = {"metrics": ["auc", "mrr@5"], "permutations": 199, "min_support": 10, **options}
    return fairrec.audit(
        predictions,
        users=users,
        by=list(ATTRIBUTES),
        command="fairrec audit predictions.parquet",
        **settings,
    )


@pytest.fixture(scope="module")
def planted() -> AuditResult:
    return planted_result()


def view_of(result: AuditResult, **options: Any) -> PageView:
    return build_page_view(result.summary, result.group_table, **options)


def as_text(name: str, part: Any, indent: str = "") -> Iterator[str]:
    """A view as lines; of long sequences the first parts and the number of all."""
    if is_dataclass(part):
        yield f"{indent}{name}:"
        for one in fields(part):
            yield from as_text(one.name, getattr(part, one.name), indent + "  ")
    elif isinstance(part, tuple) and any(map(is_dataclass, part)):
        yield f"{indent}{name}: {len(part)}"
        for one in part[:FIRST]:
            yield from as_text("-", one, indent + "  ")
    elif isinstance(part, float):
        yield f"{indent}{name}: {part:.4g}"
    else:
        yield f"{indent}{name}: {part}"


def test_the_view_of_a_fixed_world_reads_as_agreed(planted):
    # after a change, read the new text and put it into golden_page.txt
    fixed = planted.summary.model_copy(update={"versions": {"python": "3"}})
    view = build_page_view(fixed, planted.group_table)
    assert "\n".join(as_text("page", view)) + "\n" == GOLDEN.read_text("utf-8")


def test_points_and_funnel_are_the_numbers_of_the_audit():
    predictions, users = two_groups(200)
    result = fairrec.audit(predictions, users=users, by="group", metrics="mrr", permutations=99)
    (chart,) = view_of(result).charts
    assert {(point.label, point.size, point.value) for point in chart.points} == {
        ("group=even", 100, 1.0),
        ("group=odd", 100, 0.5),
    }
    assert chart.mean == 0.75
    metric = result.metrics["mrr@5"]
    # values are 1 and 0.5, half each: sd with n - 1, and the critical statistic of the test
    sd = 0.25 * np.sqrt(200 / 199)
    assert metric.sd == pytest.approx(sd)
    for step in chart.funnel:
        reach = metric.critical * sd * np.sqrt((200 - step.size) / (200 * step.size))
        assert step.high - 0.75 == pytest.approx(reach, abs=1e-5)
        assert 0.75 - step.low == pytest.approx(reach, abs=1e-5)


def test_the_funnel_parts_the_groups_that_chance_explains_from_the_others(planted):
    for chart in view_of(planted).charts:
        sizes = [step.size for step in chart.funnel]
        reaches = [step.high - chart.mean for step in chart.funnel]
        checked = 0
        for point in chart.points:
            reach = np.interp(point.size, sizes, reaches)
            away = abs(point.value - chart.mean)
            if abs(away - reach) < 0.03 * reach:
                continue  # the funnel is drawn through a few sizes only
            assert (away > reach) == (point.p_adjusted <= 0.05), point
            checked += 1
        assert checked > 100


def test_ends_and_findings_are_marked(planted):
    chart = view_of(planted).charts[0]
    roles = {point.role: point for point in chart.points}
    metric = planted.metrics["auc"]
    assert roles["best end"].value == pytest.approx(metric.advantaged.value, rel=1e-5)
    assert roles["worst end"].mark == "worst"
    assert roles["finding"].label == "gender=F, age=65+"


def test_a_group_has_one_number_everywhere(planted):
    view = view_of(planted)
    number = view.findings[0].group
    label = view.findings[0].label
    for part in (*view.findings, *view.side_by_side, *view.table):
        assert (part.group == number) == (part.label == label)
    for chart in (*view.charts,):
        assert [p.label for p in chart.points if p.group == number] == [label]


def test_a_finding_says_how_much_worse_in_words(planted):
    card = view_of(planted).findings[0]
    finding = planted.metrics["auc"].findings[0]
    others = finding.value - finding.difference
    assert card.served == "worse"
    assert card.users == "61 users"
    assert f"{-finding.difference / others:.0%} lower" in card.sentence
    assert {part.attribute for part in card.carriers} == {"gender=F", "age=65+"}
    assert all(part.is_worse for part in card.carriers)


def test_pairs_hold_the_groups_of_two_attributes(planted):
    view = view_of(planted)
    assert {(pair.row_name, pair.column_name) for pair in view.pairs} == {
        ("gender", "age"),
        ("gender", "job"),
        ("age", "job"),
    }
    first = view.pairs[0]
    assert (first.row_name, first.column_name) == ("gender", "age")
    assert first.columns == ("18-24", "25-34", "35-64", "65+")
    worst = min(first.cells, key=lambda cell: cell.shade)
    assert (worst.row, worst.column, worst.shade, worst.is_finding) == ("F", "65+", -1.0, True)


def test_correlation_is_that_of_the_group_values(planted):
    table = planted.group_table.filter(pl.col("depth") == 3)
    wide = table.pivot(on="metric", index=list(ATTRIBUTES), values="value")
    expected = np.corrcoef(wide["auc"], wide["mrr@5"])[0, 1]
    cells = {(cell.row, cell.column): cell for cell in view_of(planted).correlation.cells}
    assert cells["auc", "mrr@5"].correlation == pytest.approx(expected, abs=1e-4)
    assert cells["auc", "auc"].text == "+1.00"


def test_small_and_missing_values_are_marked():
    groups = ["even", "odd"] * 48 + ["rare"] + [None] * 3
    predictions, users = two_groups(100, group=groups)
    result = fairrec.audit(predictions, users=users, by="group", min_support=2, permutations=9)
    (part,) = view_of(result).distributions
    assert [(bar.value, bar.users, bar.is_small, bar.is_missing) for bar in part.bars] == [
        ("even", "48", False, False),
        ("odd", "48", False, False),
        ("rare", "1", True, False),
        ("(missing)", "3", False, True),
    ]
    assert part.about == "4 values, missing for 3 users, 1 value with fewer than 2 users"


def test_a_large_result_keeps_findings_and_ends_and_says_what_is_left_out(planted):
    view = view_of(planted, limits=PageLimits(points=40, rows=20))
    for chart in view.charts:
        assert len(chart.points) <= 20
        assert {"finding", "best end", "worst end"} <= {point.role for point in chart.points}
        assert chart.note == f"{len(chart.points)} of 171 groups are drawn."
    assert len(view.table) <= 20
    assert "of 342 rows are shown" in view.table_note


def test_a_search_shows_how_the_gap_grew():
    result = planted_result(search=fairrec.SearchOptions("adaptive", budget_users="30%"))
    view = view_of(result)
    history = view.histories[0]
    assert [step.users for step in history.steps] == sorted(step.users for step in history.steps)
    assert history.steps[-1].gap == pytest.approx(result.metrics["auc"].gap)
    chart = view.charts[0]
    assert chart.funnel_whole
    assert {point.is_whole for point in chart.points} == {True, False}
    # alone against a sample, a group scored in full needs a wider band than one inside it
    inside = np.interp(60, *zip(*((s.size, s.high) for s in chart.funnel), strict=True))
    whole = np.interp(60, *zip(*((s.size, s.high) for s in chart.funnel_whole), strict=True))
    assert whole > inside


def test_untested_and_pooled_metrics_have_no_funnel():
    predictions, users = two_groups(40)
    result = fairrec.audit(
        predictions, users=users, by="group", metrics="mrr,pooled_auc", permutations=0
    )
    view = view_of(result)
    assert [chart.funnel for chart in view.charts] == [(), ()]
    assert {card.verdict.status for card in view.verdicts} == {"not tested"}
    assert view.summary == "Nothing was tested against chance."
    assert view.verdicts[0].scale is None


def test_a_table_of_another_audit_is_refused(planted):
    predictions, users = two_groups(40)
    other = fairrec.audit(predictions, users=users, by="group", metrics="mrr", permutations=9)
    with pytest.raises(InputError, match="does not belong to this result"):
        build_page_view(planted.summary, other.group_table)


def test_the_page_never_calls_a_model_fair(planted):
    shown = "\n".join(as_text("page", view_of(planted))).lower()
    for word in ("unbiased", "debiased", " fair ", "unfair"):
        assert word not in shown
