from __future__ import annotations

from fairrec.comparison.result import AuditDifference
from fairrec.comparison.view import GROUPS_SHOWN, build_comparison_view
from tests.comparison.small_comparison import compared, with_metric


def test_tables_hold_the_means_the_gaps_the_groups_and_what_else_differs():
    found = compared()
    view = build_comparison_view(found.summary)
    metric = found.metrics["clicks"]
    assert [table.title for table in view.tables] == [
        "All users, and the gap between the best and the worst served intersection",
        "Groups that changed",
        "What else differs",
    ]
    first = view.groups.rows[0]
    assert first[:3] == ("clicks", "plan=free", f"{metric.lost[0].support:,}")
    assert first[-1] == "lost by more, behind others"
    (row,) = view.everyone.rows
    assert row[1] == "600"
    assert row[-1] == "lost by more than 0.300"
    assert ("model", "als 1", "-") in view.differences.rows
    assert all(len(row) == len(table.columns) for table in view.tables for row in table.rows)


def test_of_many_groups_the_first_are_shown_and_the_rest_counted():
    summary = compared().summary
    metric = summary.metrics["clicks"]
    many = (metric.lost * 50)[:50]
    view = build_comparison_view(with_metric(summary, lost=many, n_lost=200, behind=()))
    assert len(view.groups.rows) == GROUPS_SHOWN
    assert view.groups.note == f"and {200 - GROUPS_SHOWN} more in changes.parquet"


def test_what_rounding_leaves_of_a_change_of_all_is_nothing():
    summary = compared().summary
    everyone = summary.metrics["clicks"].everyone
    same = everyone.model_copy(update={"change": 1.1e-16, "interval": None})
    (row,) = build_comparison_view(with_metric(summary, everyone=same)).everyone.rows
    assert row[4] == "0"


def test_groups_that_gained_are_shown_too():
    view = build_comparison_view(compared(fall=-1.0).summary)
    assert {row[-1] for row in view.groups.rows} == {"gained", "inconclusive, behind others"}
    assert view.groups.rows[-1][-1] == "gained"


def test_a_group_is_behind_others_that_gained_more():
    found = compared(fall=-1.0).metrics["clicks"]
    (group,) = [one for one in found.behind if one.group == {"plan": "paid"}]
    view = build_comparison_view(with_metric(compared(fall=-1.0).summary, behind=(group,)))
    assert view.groups.rows[0][1] == "plan=paid"
    assert view.groups.rows[0][-1] == "inconclusive, behind others"


def test_a_change_where_no_end_is_better_is_no_loss():
    view = build_comparison_view(compared(better="", tolerance=0.3).summary)
    assert view.groups.rows[0][-1].startswith("changed by more")


def test_outside_text_is_on_one_line_and_cut():
    odd = AuditDifference(what="a\nb", base="x" * 500, candidate="")
    summary = compared().summary.model_copy(update={"differences": (odd,), "notes": ("a\x1b[1m",)})
    view = build_comparison_view(with_metric(summary, everyone=None))
    ((what, base, candidate),) = view.differences.rows
    assert what == r"a\nb" and len(base) <= 80 and candidate == "-"
    assert view.notes == (r"a\x1b[1m",)
    assert view.everyone.rows[0][1:6] == ("-",) * 5
