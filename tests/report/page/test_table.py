"""The table of groups, and findings side by side."""

from __future__ import annotations

import polars as pl
import pytest

import fairrec
from fairrec.core.units import USERS
from fairrec.report.page.findings import number_columns, side_by_side, table_rows
from fairrec.report.page.groups import GroupFrame, PageGroups
from fairrec.report.page.view import PageLimits
from fairrec.report.words import signed
from fairrec.result.audit_result import AuditResult
from tests.builders import two_groups
from tests.report.page.planted_page import planted


def groups_of(result: AuditResult) -> PageGroups:
    return PageGroups(GroupFrame(result.group_table, result.summary), result.summary)


def small(permutations: int) -> AuditResult:
    predictions, users = two_groups(200)
    return fairrec.audit(
        predictions,
        users=users,
        by="group",
        metrics="mrr",
        statistics=fairrec.Statistics(permutations=permutations),
    )


def test_a_row_has_the_numbers_of_its_group():
    rows, note = table_rows(groups_of(small(99)), PageLimits())
    assert note == ""
    by_label = {row.label: row for row in rows}
    even, odd = by_label["group=even"], by_label["group=odd"]
    # served at place 1 and at place 2
    assert (even.users, even.value, even.difference) == ("100", "1.000", "+0.500")
    assert (odd.users, odd.value, odd.difference) == ("100", "0.500", "−0.500")
    low, high = odd.difference_interval.split(" to ")
    assert float(low.replace("−", "-")) <= -0.5 <= float(high.replace("−", "-"))
    assert (odd.metric, odd.attributes, odd.p_adjusted) == ("mrr@5", (0,), "≤0.010")


def test_a_row_has_its_numbers_with_all_their_digits():
    groups = groups_of(planted())
    rows, _ = table_rows(groups, PageLimits())
    names = number_columns(USERS, "95%", "difference")
    row = next(row for row in rows if (row.metric, row.label) == ("auc", "gender=F, age=65+"))
    own = groups.frame.of_metric["auc"].filter(
        pl.col("depth") == 2, pl.col("a0") == "F", pl.col("a1") == "65+"
    )
    kept = dict(zip(names, row.numbers, strict=True))
    for name, column in (
        ("users", "support"),
        ("value", "value"),
        ("its 95% interval, one at a time, high", "difference_high"),
        ("shrunken difference", "shrunken_difference"),
        ("its 95% interval, all at once, low", "simultaneous_low"),
        ("p adjusted", "p_adjusted"),
    ):
        assert kept[name] == pytest.approx(own[column].item(), rel=1e-8), name


def test_what_was_not_tested_has_no_p_value():
    rows, _ = table_rows(groups_of(small(0)), PageLimits())
    assert {row.p_adjusted for row in rows} == {"-"}
    assert {row.role for row in rows} == {"best end", "worst end"}


def test_rows_are_sorted_by_p_and_those_left_out_are_counted():
    groups = groups_of(planted())
    rows, note = table_rows(groups, PageLimits())
    shown = [float(row.p_adjusted.strip("<≤")) for row in rows]
    assert shown == sorted(shown)
    assert len(rows) == planted().group_table.height and note == ""
    few, note = table_rows(groups, PageLimits(rows=20))
    # at most ten for each of two metrics
    assert {*few} < {*rows} and len(few) <= 20
    assert {row.role for row in few} == {row.role for row in rows}
    assert note.startswith(f"{len(few)} of {len(rows)} rows")
    pair = next(row for row in rows if row.label == "gender=F, age=65+")
    assert pair.attributes == (0, 1)


def test_a_finding_in_one_metric_has_its_difference_in_all():
    result = planted()
    silent = result.metrics["mrr@5"].model_copy(update={"findings": ()})
    metrics = {**result.metrics, "mrr@5": silent}
    summary = result.summary.model_copy(update={"metrics": metrics})
    rows = side_by_side(PageGroups(GroupFrame(result.group_table, summary), summary))
    assert len(rows) == len(result.metrics["auc"].findings)
    assert {row.is_finding for row in rows} == {(True, False)}
    assert rows[0].label == "gender=F, age=65+"
    own = result.group_table.filter(pl.col("depth") == 2, gender="F", age="65+")
    differences = dict(own.select("metric", "difference").iter_rows())
    assert rows[0].differences == tuple(signed(differences[name]) for name in metrics)


def test_a_finding_in_two_metrics_has_one_row():
    result = planted()
    first, *others = side_by_side(groups_of(result))
    assert first.is_finding == (True, True)
    assert first.label not in {row.label for row in others}
