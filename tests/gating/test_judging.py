"""Rules and what becomes of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.gating.harms import difference_harms
from fairrec.gating.judging import Measurements, judge_policy
from tests.gating.judged_world import measured, planted, policy_of


def outcome(rule, given=None, **require):
    found = judge_policy(policy_of(rule, **require), given or measured(), "fairrec.toml")
    return found[0]


def test_a_group_shown_worse_by_more_fails_whatever_its_size():
    found = outcome({"metric": "hits", "max_worse": 0.03}, certify_from=1000)
    assert (found.outcome, found.n_failed) == ("failed", 2)
    assert found.decided_by.label == "gender=F, age=56+"
    assert found.decided_by.support < 1000
    assert found.decided_by.interval[0] > 0.03


def test_without_a_limit_what_matters_is_one():
    assert outcome({"metric": "hits"}).limit == 0.03
    with pytest.raises(InputError, match="rule 1: has no limit, and nothing was said to matter"):
        outcome({"metric": "clicks"})


def test_a_limit_above_every_interval_passes():
    found = outcome({"metric": "hits", "max_worse": 0.5})
    assert (found.outcome, found.n_open, found.n_failed) == ("passed", 0, 0)
    # without certify_from every group of a single attribute
    assert found.n_ruled_out == 5


def test_between_both_nothing_is_known():
    found = outcome({"metric": "hits", "max_worse": 0.25})
    assert found.outcome == "passed"  # no single attribute is as bad
    found = outcome({"metric": "hits", "max_worse": 0.25}, certify_from=100)
    assert (found.outcome, found.n_open) == ("inconclusive", 1)
    assert found.decided_by.label == "gender=F, age=56+"


def test_smaller_groups_may_stay_open():
    rule = {"metric": "clicks", "max_worse": 0.35}
    small = outcome(rule, certify_from=100)
    assert small.outcome == "inconclusive"
    assert small.decided_by.support < 300
    large = outcome(rule, certify_from=300)
    assert (large.outcome, large.n_ruled_out) == ("passed", 9)


def test_groups_that_nobody_has_are_no_all_clear():
    found = outcome({"metric": "clicks", "max_worse": 5}, certify_from=3990)
    assert (found.outcome, found.decided_by) == ("inconclusive", None)
    assert "no group has 3,990 users" in found.measured


def test_groups_below_those_audited_are_not_certified():
    with pytest.raises(InputError, match="certify_from is 3, but the audit looked at groups of"):
        outcome({"metric": "clicks", "max_worse": 5}, certify_from=3)


def test_named_groups_must_be_ruled_out_whatever_their_size():
    rule = {"metric": "clicks", "max_worse": 0.35, "groups": ["gender=F,age=56+"]}
    assert outcome(rule, certify_from=300).outcome == "inconclusive"
    assert outcome({**rule, "groups": ["gender=F"]}).outcome == "passed"
    # and others are no matter
    assert outcome({"metric": "hits", "max_worse": 0.2, "groups": ["gender=M"]}).outcome == "passed"


def test_a_metric_without_a_better_end_is_limited_in_both_directions():
    assert outcome({"metric": "lean", "max_difference": 0.5}).outcome == "passed"
    with pytest.raises(InputError, match="Limit the difference instead: max_difference"):
        outcome({"metric": "lean", "max_worse": 0.5})
    found = outcome({"metric": "hits", "max_difference": 0.1})
    assert found.outcome == "failed"


def test_shares_of_the_mean_need_a_zero():
    assert outcome({"metric": "clicks", "max_worse": "20%"}).limit == pytest.approx(0.6, abs=0.02)
    with pytest.raises(InputError, match="no share of its mean that says anything"):
        outcome({"metric": "lean", "max_difference": "5%"})


def test_a_ratio_is_limited_from_below():
    found = outcome({"metric": "hits", "min_ratio": 0.8})
    assert (found.outcome, found.limit) == ("failed", 0.8)
    assert outcome({"metric": "clicks", "min_ratio": 0.8}).outcome == "passed"


def test_what_chance_explains_fails_nobody():
    # an interval beyond the limit of a group that does not stand out shows nothing
    given = measured(is_beyond_chance=False)
    assert outcome({"metric": "hits", "max_worse": 0.03}, given).outcome == "inconclusive"


def test_what_is_not_known_passes_nobody():
    given = measured(is_known=False)
    assert outcome({"metric": "hits", "max_worse": 0.5}, given).outcome == "inconclusive"


def test_an_untested_audit_is_inconclusive():
    given = measured(is_known=None, is_beyond_chance=None)
    assert outcome({"metric": "hits", "max_worse": 0.5}, given).outcome == "inconclusive"


def test_users_without_a_value_are_no_all_clear():
    result = planted()
    about = result.summary.metrics["hits"].model_copy(update={"is_conclusive": False})
    summary = result.summary.model_copy(update={"metrics": {"hits": about}})
    given = Measurements(summary, result.group_table)
    found = outcome({"metric": "hits", "max_worse": 0.5}, given)
    assert found.outcome == "inconclusive"
    assert "too many users have no value" in found.measured
    # what is shown stays shown
    assert outcome({"metric": "hits", "max_worse": 0.03}, given).outcome == "failed"


def test_a_baseline_must_be_given():
    with pytest.raises(InputError, match="rule 1: has baseline, and none was given"):
        outcome({"metric": "hits", "baseline": "no_group_worse"})


def test_the_largest_share_without_a_value_is_required_of_each_metric_once():
    policy = policy_of(
        {"metric": "hits", "max_worse": 0.5},
        {"metric": "hits", "min_ratio": 0.1, "severity": "warn"},
        {"metric": "clicks", "max_worse": 5, "severity": "warn"},
        max_undefined=0.0,
    )
    found = judge_policy(policy, measured(), "p.toml")[3:]
    assert [(one.metric, one.outcome, one.severity) for one in found] == [
        ("hits", "passed", "fail"),
        ("clicks", "passed", "warn"),
    ]
    result = planted()
    about = result.summary.metrics["hits"].model_copy(update={"undefined_share": 0.12})
    metrics = {**result.summary.metrics, "hits": about}
    summary = result.summary.model_copy(update={"metrics": metrics})
    one = judge_policy(policy, Measurements(summary, result.group_table), "p.toml")[3]
    assert (one.outcome, one.measured) == ("failed", "12% of users have none")


def test_a_group_in_circumstances_of_its_own_is_no_all_clear():
    rng = np.random.default_rng(0)
    seg = np.repeat(["a", "b", "c"], 400)
    table = pl.DataFrame(
        {
            "user_id": range(1200),
            "seg": seg,
            "land": np.where(seg == "a", "X", "Y"),
            "bought": rng.normal(5, 1, 1200) - 3 * (seg == "a"),
        }
    )
    result = fairrec.audit(
        values=table.select("user_id", "bought"),
        users=table.drop("bought"),
        by="seg",
        given="land",
        better="bought=higher",
        permutations=99,
    )
    given = Measurements(result.summary, result.group_table)
    rule = {"metric": "bought", "max_worse": 0.9}
    for found in (
        outcome(rule, given, certify_from=100),
        outcome({**rule, "groups": ["seg=a"]}, given),
    ):
        assert found.outcome == "inconclusive"
        assert "seg=a (400 users) has nobody to be compared with" in found.measured


@pytest.mark.parametrize("value", [1.0, 3.7])
def test_the_same_value_for_everyone_is_no_all_clear(value):
    table = pl.DataFrame({"user_id": range(600), "g": ["a"] * 30 + ["b"] * 570, "clicked": value})
    result = fairrec.audit(values=table, by="g", better="clicked=higher", permutations=99)
    given = Measurements(result.summary, result.group_table)
    rule = {"metric": "clicked", "max_worse": 0.03, "groups": ["g=a"]}
    assert outcome(rule, given).outcome == "inconclusive"


def test_a_group_shown_worse_is_named_before_one_of_which_little_is_known():
    rng = np.random.default_rng(0)
    group = np.repeat(["large", "small", "rest"], [900, 20, 900])
    values = rng.normal(0, 1, 1820) - 0.3 * (group == "large")
    table = pl.DataFrame({"user_id": range(1820), "g": group, "v": values})
    result = fairrec.audit(values=table, by="g", better="v=higher", permutations=199)
    given = Measurements(result.summary, result.group_table)
    found = outcome({"metric": "v", "max_worse": 0.25}, given)
    assert found.outcome == "inconclusive" and found.decided_by.label == "g=large"
    # though the other one may be worse by more
    harms = difference_harms(result.group_table, result.summary, "v")
    assert harms.interval.high.argmax() == harms.position({"g": "small"})


def bounded():
    from dataclasses import replace

    result = planted()
    about = result.summary.metrics["hits"].model_copy(update={"bounds": (0.0, 1.0)})
    metrics = {**result.summary.metrics, "hits": about}
    summary = result.summary.model_copy(update={"metrics": metrics})
    return measured(replace(result, summary=summary))


@pytest.mark.parametrize("limit", [1, 5])
def test_a_limit_that_nothing_can_be_beyond_is_refused(limit):
    with pytest.raises(InputError, match=f"max_worse = {limit}: hits runs from 0 to 1, so nothing"):
        outcome({"metric": "hits", "max_worse": limit}, bounded())
    assert outcome({"metric": "hits", "max_worse": 0.9}, bounded()).outcome == "passed"


def test_a_baseline_needs_a_better_end():
    with pytest.raises(InputError, match="neither end of lean is better"):
        outcome(
            {"metric": "lean", "baseline": "no_group_worse", "tolerance": 0.1},
            Measurements(planted().summary, planted().group_table, lambda metric: None),
        )


def test_an_unknown_metric_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="rule 1: No metric in this audit 'hit'"):
        outcome({"metric": "hit", "max_worse": 0.1})


def test_with_full_depth_every_intersection_must_be_ruled_out():
    whole = planted().group_table.filter(pl.col("depth") == 2)
    given = Measurements(planted().summary, whole)
    assert outcome({"metric": "hits", "max_worse": 0.5}, given).n_ruled_out == 6
    assert outcome({"metric": "hits", "max_worse": 0.5}, given).outcome == "passed"
