"""Rows of the first screen, beside the table of groups."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.page.dot_plot import ticks
from fairrec.report.words import numbers, signed, with_sign
from tests.report.items_audits import items_result
from tests.report.page.planted_page import planted, planted_result, view_of


def test_the_plot_of_the_answer_comes_first_and_all_have_the_same_groups():
    view = view_of(planted())
    assert view.dots[0].metric == view.overview.lines[0].metric
    assert {plot.metric for plot in view.dots} == {"auc", "mrr@5"}
    assert {plot.direction for plot in view.dots} == {"higher is better"}
    rows = [[row.group for row in plot.rows] for plot in view.dots]
    assert rows[0] == rows[1] == [card.group for card in view.findings]


def test_a_row_has_the_numbers_of_its_group():
    view = view_of(planted())
    for plot in view.dots:
        row = plot.rows[0]
        found = planted().group_table.filter(metric=plot.metric, gender="F", age="65+", depth=2)
        (about,) = found.rows(named=True)
        assert row.difference == signed(about["shrunken_difference"])
        low, high = about["simultaneous_low"], about["simultaneous_high"]
        assert row.interval == f"{signed(low)} to {signed(high)}"
        # places are linear: the dot lies in its interval as its number does in the other
        share = (about["shrunken_difference"] - low) / (high - low)
        assert (row.at - row.span[0]) / (row.span[1] - row.span[0]) == pytest.approx(
            share, abs=0.01
        )
        assert row.served == "worse"
        assert row.measured < row.at


def test_the_band_is_where_random_groups_of_the_size_are():
    plot = view_of(planted()).dots[0]
    result = planted().metrics[plot.metric]
    row = plot.rows[0]
    n = int(row.users)
    error = result.sd * math.sqrt(1 / n + 1 / (result.n_compared - n))
    unit = (row.at - plot.zero) / float(row.difference.replace("−", "-"))
    _, below = result.critical_tails[len(result.findings[0].group)]
    assert row.chance[0] - plot.zero == pytest.approx(-below * error * unit, abs=0.2)
    # a finding is outside
    assert not row.chance[0] <= row.at <= row.chance[1]
    assert row.chance[1] > plot.zero


def test_where_none_stands_out_the_largest_groups_of_one_attribute_are_shown():
    rng = np.random.default_rng(3)
    users = pl.DataFrame(
        {
            "user_id": range(600),
            "g": rng.choice([*"abc"], 600, p=[0.6, 0.3, 0.1]),
            "h": rng.choice([*"xy"], 600),
            "m": rng.normal(size=600),
        }
    )
    result = fairrec.audit(
        values=users,
        by="g,h",
        tables=fairrec.Tables(better="m=higher"),
        statistics=fairrec.Statistics(permutations=99),
    )
    view = view_of(result)
    assert view.findings == ()
    (plot,) = view.dots
    assert {row.label for row in plot.rows} == {"g=a", "g=b", "g=c", "h=x", "h=y"}
    assert all(row.served == "" and row.marks == () for row in plot.rows)
    assert "No finding" in view.dots_note
    # nobody was picked out, so nothing is taken off
    by_one = result.group_table.filter(depth=1).rows(named=True)
    wanted = {f"{axis}={row[axis]}": row for row in by_one for axis in "gh" if row[axis]}
    for row in plot.rows:
        about = wanted[row.label]
        ends = about["simultaneous_low"], about["simultaneous_high"]
        assert row.difference == with_sign(numbers(about["difference"], *ends)[0])


def test_after_a_search_a_fully_scored_group_has_a_band_too():
    search = fairrec.Search("adaptive", budget_users="30%", reference=0.1)
    result = planted_result(search=search)
    view = view_of(result)
    row = view.dots[0].rows[0]
    # more users than were drawn at random
    assert int(row.users) > result.metrics[view.dots[0].metric].n_compared
    assert row.chance[0] < view.dots[0].zero < row.chance[1]
    assert " instead of about " in view.overview.headline


def test_intervals_of_items_allow_for_other_users():
    assert "had other users come; the items stay" in view_of(items_result()).dots_note
    assert "had other users come" not in view_of(planted()).dots_note


def test_without_a_test_there_is_no_plot():
    users = pl.DataFrame({"user_id": range(40), "g": [*"ab"] * 20, "m": np.arange(40.0)})
    result = fairrec.audit(
        values=users,
        by="g",
        tables=fairrec.Tables(better="m=higher"),
        statistics=fairrec.Statistics(permutations=0),
        min_support=1,
    )
    assert view_of(result).dots == ()


@pytest.mark.parametrize("size", [1e-9, 0.3, 7.0, 4e8])
def test_ticks_are_few_and_round(size):
    found = ticks(-size, size / 3)
    assert 2 <= len(found) <= 9
    assert 0.0 in found and min(found) >= -size and max(found) <= size / 3
    steps = np.diff(found)
    assert steps == pytest.approx(np.full(len(steps), steps[0]))
