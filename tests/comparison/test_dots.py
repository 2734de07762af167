from __future__ import annotations

import pytest

from fairrec.comparison.view import change_plots, changed_groups, group_cells
from tests.comparison.small_comparison import compared


def test_dots_lie_where_the_changes_are_and_worse_ones_are_marked():
    found = compared()
    (plot,) = change_plots(found.summary, found.changes)
    assert (plot.metric, plot.status) == ("clicks", "lost by more than 0.300")
    first = plot.rows[0]
    assert first.cells[0] == "plan=free"
    assert first.moved == "worse"
    low, high = first.span
    assert 0 <= low < first.at < high < plot.tolerance < plot.zero <= 100
    lost = found.changes["outcome"].str.starts_with("lost").sum()
    assert [row.moved for row in plot.rows].count("worse") == lost


def test_where_lower_is_better_the_limit_is_on_the_other_side():
    found = compared(fall=-1.0, better="lower")
    (plot,) = change_plots(found.summary, found.changes)
    assert plot.rows[0].moved == "worse"
    assert plot.zero < plot.tolerance


def test_without_a_better_end_nothing_is_worse():
    found = compared(better="")
    (plot,) = change_plots(found.summary, found.changes)
    beyond = {row.moved for row in plot.rows if row.cells[-1].startswith("changed")}
    assert beyond == {"changed"}
    assert plot.tolerance is None


def test_of_many_groups_those_that_lost_those_that_gained_and_the_largest_are_shown():
    found = compared()
    few = changed_groups("clicks", found.summary, found.changes, 4)
    assert len(few) == 4
    assert [group.moved for group in few][:2] == ["worse", "worse"]
    everyone = changed_groups("clicks", found.summary, found.changes, 1000)
    assert len(everyone) == found.changes.height
    quiet = [group.support for group in everyone if group.moved == "within"]
    assert quiet[0] == max(quiet)


def test_an_interval_that_is_not_known_is_a_dash():
    found = compared()
    metric = found.metrics["clicks"]
    (group,) = changed_groups("clicks", found.summary, found.changes, 1)
    assert " to " in group_cells(group, metric)[5]
    changes = found.changes.with_columns(simultaneous_low=None, simultaneous_high=None)
    (blind,) = changed_groups("clicks", found.summary, changes, 1)
    assert group_cells(blind, metric)[5] == "-"
    (plot,) = change_plots(found.summary, changes)
    assert {row.span for row in plot.rows} == {None}


@pytest.mark.parametrize(
    ("fall", "verdict"),
    [(-1.0, "inconclusive, behind others"), (1.0, "lost by more, behind others")],
)
def test_a_group_has_its_verdict(fall, verdict):
    found = compared(fall=fall)
    (group,) = changed_groups("clicks", found.summary, found.changes, 1)
    assert group_cells(group, found.metrics["clicks"])[-1] == verdict
