"""What the values before and after say about whom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pytest import approx

from fairrec.mitigation.tuning import Levels
from tests.mitigation.small_change import NAN, before_after


def test_the_others_are_those_of_the_users_reported_on():
    seen = before_after()
    assert seen.reported_aim.rest == approx((0.5 + 0.7) / 2)
    assert seen.aim.rest == 0.5


def test_the_change_of_the_chosen_groups_is_that_of_their_users():
    change = before_after().chosen_change(0)
    assert change.n_users == 2
    assert (change.before, change.after) == (approx(0.3), approx(0.5))
    assert change.change == approx(0.2)


def test_where_no_end_is_better_the_target_is_judged_by_its_distance_from_the_others():
    seen = before_after("urp@5")
    assert (seen.is_distance(0), seen.is_distance(1)) == (True, False)
    change = seen.chosen_change(0)
    # the others have 0.6
    assert (change.before, change.after) == (approx(0.6 - 0.3), approx(0.6 - 0.5))
    assert seen.chosen_change(1).before == approx((0.5 + 0.7) / 2)


def test_the_side_of_a_distance_is_the_one_it_was_chosen_on():
    """Women were above the others where they were chosen, and are below them where reported."""
    above = np.array([[0.9, 0.9, 0.5, NAN], [0.4, 0.8, 0.6, 0.6]])
    seen = before_after("urp@5", chosen_by=above)
    change = seen.chosen_change(0)
    assert (change.before, change.after) == (approx(0.3 - 0.6), approx(0.5 - 0.6))
    assert seen.regression().chosen_by == approx(0.9 - 0.5)
    assert seen.regression().fresh == approx(0.3 - 0.6)
    assert seen.trade_off(TUNED, MEASURED)[0].reported == approx(0.3 - 0.6)


def test_each_group_has_its_value_where_it_was_chosen_and_where_it_is_reported():
    (women,) = before_after().groups()
    assert (women.group, women.chosen_by) == ({"gender": "F"}, 0.1)
    assert (women.change.before, women.change.after) == (approx(0.3), approx(0.5))
    (unknown,) = before_after(chosen_by=np.full((2, 4), NAN)).groups()
    assert unknown.chosen_by is None


def test_regression_compares_both_targets_without_any_re_ranking():
    seen = before_after().regression()
    assert (seen.chosen_by, seen.fresh) == (approx(0.1), approx(0.3))
    assert (seen.others_chosen_by, seen.others_fresh) == (0.5, approx(0.6))
    away = before_after("urp@5").regression()
    assert (away.chosen_by, away.fresh) == (approx(0.5 - 0.1), approx(0.6 - 0.3))


TUNED = Levels((0.0, 1.0), np.array([0.1, 0.2]), np.array([0.5, NAN]), np.zeros(2))
# target and cost of the two re-ranked users at both strengths
MEASURED = np.array(
    [
        [[0.2, 0.4], [0.5, 0.7]],
        [[0.4, 0.6], [0.3, 0.5]],
    ]
)


def test_the_trade_off_has_the_chosen_groups_and_what_everyone_pays():
    nothing, everything = before_after().trade_off(TUNED, MEASURED)
    assert (nothing.strength, everything.strength) == (0.0, 1.0)
    assert (nothing.tuned, nothing.tuned_cost) == (0.1, 0.5)
    assert (everything.tuned, everything.tuned_cost) == (0.2, None)
    assert (nothing.reported, everything.reported) == (approx(0.3), approx(0.5))
    assert (nothing.reported_cost, everything.reported_cost) == (approx(0.6), approx(0.4))
    # the two others keep their 0.1 and 0.3
    assert nothing.everyone_cost == approx((0.5 + 0.7 + 0.1 + 0.3) / 4)
    assert everything.everyone_cost == approx((0.3 + 0.5 + 0.1 + 0.3) / 4)


def test_without_labels_there_is_no_cost():
    seen = before_after()
    seen = replace(seen, measures=replace(seen.measures, cost=None))
    measured = MEASURED.copy()
    measured[:, 1] = NAN
    points = seen.trade_off(TUNED, measured)
    assert [point.everyone_cost for point in points] == [None, None]
    assert points[1].reported == approx(0.5)
