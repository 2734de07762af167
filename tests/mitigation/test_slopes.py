"""Each metric before and after: which numbers are drawn, and beside what."""

from __future__ import annotations

import pytest
from pytest import approx

from fairrec.mitigation.charts import Level, slopes
from tests.mitigation.small_summary import (
    COST,
    NOTHING,
    TARGET,
    change,
    effect,
    same,
    summary_of,
)


def test_the_target_comes_first_then_its_cost_then_the_rest():
    effects = {"auc": TARGET, "ndcg@5": COST, "urd@5": TARGET}
    drawn = slopes(summary_of(effects=effects))
    assert [slope.metric for slope in drawn] == ["urd@5", "ndcg@5", "auc"]
    assert [slope.is_target for slope in drawn] == [True, False, False]


def test_the_interval_of_the_change_is_added_to_the_value_before():
    target, _ = slopes(summary_of())
    # 0.3 to 0.5, the change give or take 0.1
    assert (target.before, target.after) == (0.3, 0.5)
    assert (target.low, target.high) == (approx(0.4), approx(0.6))
    for part in ("0.300 before", "0.500 after", "+0.100 to +0.300", "95%", "improved"):
        assert part in target.alternative


def test_the_target_is_to_reach_all_others_and_a_tuned_cost_to_keep_its_share():
    target, cost = slopes(summary_of())
    assert target.others == Level(0.4, "to reach 0.400", "To reach: 0.400, as all others.")
    assert target.floor is None
    assert cost.others == Level(0.4, "all others 0.400", "All others: 0.400.")
    # 2% of 0.5 may be lost
    assert cost.floor == Level(approx(0.49), "to keep 0.490", "To keep: 0.490.")
    assert "All others: 0.400." in cost.alternative and "To keep: 0.490." in cost.alternative
    _, given = slopes(summary_of(is_tuned=False))
    assert given.floor is None and "To keep" not in given.alternative
    own, _ = slopes(summary_of(metric="ndcg@5"))
    assert own.floor is None


def test_nothing_is_to_be_reached_where_the_others_are_no_better():
    ahead, _ = slopes(summary_of(effect(change(0.5, 0.6), same(0.4))))
    assert ahead.others == Level(0.4, "all others 0.400", "All others: 0.400.")


def test_a_distance_is_to_reach_nothing():
    away = effect(change(0.3, 0.1), same(0.4), is_distance=True)
    target, _ = slopes(summary_of(away))
    assert target.metric == "distance in urd@5 from all others"
    assert target.others == Level(0.0, "to reach 0", "To reach: 0, as all others.")


@pytest.mark.parametrize(
    ("verdict", "tone"),
    [
        ("improved", "better"),
        ("worse", "worse"),
        ("changed", "neutral"),
        ("not significant", "neutral"),
    ],
)
def test_only_what_is_shown_has_a_colour(verdict, tone):
    target, _ = slopes(summary_of(effect(change(0.3, 0.5, verdict), same(0.4))))
    assert target.tone == tone and f", {verdict}." in target.alternative


def test_what_is_undefined_or_did_not_change_claims_no_interval():
    assert [slope.metric for slope in slopes(summary_of(effect(NOTHING, same(0.4))))] == ["ndcg@5"]
    still, _ = slopes(summary_of(effect(same(0.3), same(0.4))))
    assert (still.low, still.high) == (None, None)
    assert "interval" not in still.alternative
    alone, _ = slopes(summary_of(effect(change(0.3, 0.5), same(0.4), others=NOTHING)))
    assert alone.others is None and "others" not in alone.alternative
