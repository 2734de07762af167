from __future__ import annotations

from fairrec.report.comparison.view import GROUPS_SHOWN, build_comparison_view
from fairrec.result.comparison_schema import AuditDifference
from tests.report.comparison.small_comparison import compared, with_metric


def test_tables_hold_the_groups_the_means_the_gaps_and_what_else_differs():
    found = compared()
    view = build_comparison_view(found.summary)
    metric = found.metrics["clicks"]
    assert [table.title for table in view.tables] == [
        "Groups that became worse",
        "All users, and the gap between the best and the worst served intersection",
        "What else differs",
    ]
    first = view.worse.rows[0]
    assert first[:3] == ("clicks", "plan=free", f"{metric.worse[0].support:,}")
    assert first[-1] == "worse by more than matters"
    (row,) = view.everyone.rows
    assert row[1] == "600"
    assert row[-1] == "worse by more than matters"
    assert ("model", "als 1", "-") in view.differences.rows
    assert all(len(row) == len(table.columns) for table in view.tables for row in table.rows)


def test_of_many_groups_the_first_are_shown_and_the_rest_counted():
    summary = compared().summary
    metric = summary.metrics["clicks"]
    many = (metric.worse * 50)[:50]
    summary = with_metric(summary, worse=many, n_worse=199, n_worse_by_more=1)
    view = build_comparison_view(summary)
    assert len(view.worse.rows) == GROUPS_SHOWN
    assert view.worse.note == f"and {200 - GROUPS_SHOWN} more in changes.parquet"


def test_what_rounding_leaves_of_a_change_of_all_is_nothing():
    summary = compared().summary
    everyone = summary.metrics["clicks"].everyone
    same = everyone.model_copy(update={"change": 1.1e-16, "interval": None})
    (row,) = build_comparison_view(with_metric(summary, everyone=same)).everyone.rows
    assert row[4] == "0"


def test_improved_groups_have_a_table_of_their_own():
    view = build_comparison_view(compared(fall=-1.0).summary)
    assert not view.worse.rows
    assert {row[-1] for row in view.improved.rows} == {"improved"}


def test_a_change_where_no_end_is_better_is_not_called_worse():
    view = build_comparison_view(compared(better="", matters=0.3).summary)
    assert not view.worse.rows and not view.improved.rows
    assert view.changed.rows and view.changed in view.tables
    assert view.changed.title == "Groups that changed, where neither end is better"


def test_outside_text_is_on_one_line_and_cut():
    odd = AuditDifference(what="a\nb", base="x" * 500, candidate="")
    summary = compared().summary.model_copy(update={"differences": (odd,), "notes": ("a\x1b[1m",)})
    view = build_comparison_view(with_metric(summary, everyone=None))
    ((what, base, candidate),) = view.differences.rows
    assert what == r"a\nb" and len(base) <= 80 and candidate == "-"
    assert view.notes == (r"a\x1b[1m",)
    assert view.everyone.rows[0][1:6] == ("-",) * 5
