"""Rules and what becomes of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pytest import approx

import fairrec
from fairrec.core.errors import InputError
from fairrec.counterfactuals.result import Affected
from fairrec.gating.harms import difference_harms
from fairrec.gating.judging import Measurements, judge_affected, judge_policy
from fairrec.gating.policy import Rule
from fairrec.report.audit_result import AuditResult
from fairrec.report.page.html import page_html
from fairrec.report.text import to_markdown
from fairrec.report.view import build_view
from fairrec.report.words import percent, signed
from tests.comparison.two_sides import audit_users
from tests.counterfactuals.flipped_world import blind, flipped
from tests.end_to_end.command_line import run_here
from tests.gating.judged_world import measured, planted, policy_of
from tests.grouped_options import group_options


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
    with pytest.raises(InputError, match="rule 1: has no limit, and the audit has no tolerance"):
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
        adjust_for="land",
        tables=fairrec.Tables(better="bought=higher"),
        statistics=fairrec.Statistics(permutations=99),
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
    result = fairrec.audit(
        values=table,
        by="g",
        tables=fairrec.Tables(better="clicked=higher"),
        statistics=fairrec.Statistics(permutations=99),
    )
    given = Measurements(result.summary, result.group_table)
    rule = {"metric": "clicked", "max_worse": 0.03, "groups": ["g=a"]}
    assert outcome(rule, given).outcome == "inconclusive"


def test_a_group_shown_worse_is_named_before_one_of_which_little_is_known():
    rng = np.random.default_rng(0)
    group = np.repeat(["large", "small", "rest"], [900, 20, 900])
    values = rng.normal(0, 1, 1820) - 0.3 * (group == "large")
    table = pl.DataFrame({"user_id": range(1820), "g": group, "v": values})
    result = fairrec.audit(
        values=table,
        by="g",
        tables=fairrec.Tables(better="v=higher"),
        statistics=fairrec.Statistics(permutations=199),
    )
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


def share(low: float, high: float) -> Affected:
    middle = (low + high) / 2
    return Affected(
        metric="affected@3",
        n=100,
        n_affected=round(100 * middle),
        share=middle,
        low=low,
        high=high,
        margin_wanted=None,
    )


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.06, 0.1, "failed"),
        (0.05, 0.1, "inconclusive"),
        (0.01, 0.0501, "inconclusive"),
        (0.01, 0.05, "passed"),
        (0.05, 0.05, "passed"),
        (0.0501, 0.0501, "failed"),
    ],
)
def test_the_bounds_of_the_share_decide(low: float, high: float, outcome: str):
    rule = Rule(metric="affected@3", max_affected=0.05, severity="warn")
    found = judge_affected(rule, share(low, high), 2)
    assert (found.outcome, found.number, found.severity) == (outcome, 2, "warn")
    assert found.what == "affected@3: at most 5% of users are affected"
    assert ("users are, and all were scored" in found.measured) == (low == high)
    assert (found.explanation == "passes") == (outcome == "passed")
    assert ("score more users" in found.explanation) == (outcome == "inconclusive")


def test_digits_that_decide_are_shown():
    found = judge_affected(Rule(metric="affected@3", max_affected=0.05), share(0.01, 0.0501), 1)
    assert found.measured.endswith("of 100 users are (1.000% to 5.010% of all)")


def everybody(user_ids, item_ids, gender, town, age=0) -> np.ndarray:
    """Another order for everyone once gender is another."""
    return np.where(gender == "F", item_ids, -item_ids)


def test_all_groups_affected_alike_pass_limits_on_groups_and_fail_this_one(tmp_path: Path):
    found = flipped(everybody, tolerance={"affected@3": 0.05})
    assert found.summary.affected.share == 1
    alike = {"metric": "affected@3", "max_worse": 0.05}
    many = {"metric": "affected@3", "max_affected": 0.05}
    assert fairrec.gate(found, {"rule": [alike]}).outcome != "failed"
    assert fairrec.gate(found, {"rule": [alike, many]}).outcome == "failed"
    folder = found.save(tmp_path / "flipped", report=False)
    saved = fairrec.gate(folder, {"rule": [many]})
    assert saved.rules == fairrec.gate(found, {"rule": [many]}).rules
    assert fairrec.gate(flipped(blind), {"rule": [many]}).outcome == "passed"
    (tmp_path / "policy.toml").write_text(
        '[[rule]]\nmetric = "affected@3"\nmax_affected = 0.05\n', encoding="utf-8"
    )
    ran = run_here("gate", str(folder), "--policy", str(tmp_path / "policy.toml"), "--explain")
    assert ran.code == 1
    said = "affected@3: at most 5% of users are affected | 100% of 600 users are, and all were"
    assert f"FAIL  {said} scored" in ran.stdout
    assert "to pass: fewer users would have to be affected: at most 5%" in ran.stdout


def test_some_users_leave_a_doubt_that_scoring_all_of_them_ends():
    def twentieth(user_ids, item_ids, gender, town):
        return np.where((gender == "F") & (user_ids % 20 == 0), item_ids, -item_ids)

    rule = {"rule": [{"metric": "affected@3", "max_affected": 0.055}]}
    some = fairrec.gate(flipped(twentieth, budget_users=300, permutations=0), rule)
    assert some.outcome == "inconclusive"
    assert "to end at 5.5% or below: score more users" in some.rules[0].explanation
    everyone = fairrec.gate(flipped(twentieth, permutations=0), rule)
    assert everyone.outcome == "passed"
    assert everyone.rules[0].measured == "5.00% of 600 users are, and all were scored"


def test_only_a_counterfactual_and_its_own_metric_are_judged_so():
    users = audit_users(permutations=0)
    with pytest.raises(InputError, match="rule 1: has max_affected, which is about a counterf"):
        fairrec.gate(users, {"rule": [{"metric": "mrr@5", "max_affected": 0.1}]})
    found = flipped(blind, permutations=0)
    with pytest.raises(InputError, match='Write metric = "affected@3"'):
        fairrec.gate(found, {"rule": [{"metric": "changed@3", "max_affected": 0.1}]})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_affected": -0.1}, "max_affected must be a number from 0, below 1"),
        ({"max_affected": 1}, "max_affected must be"),
        ({"max_affected": 0.1, "max_worse": 0.1}, "max_worse and max_affected"),
        ({"max_affected": 0.1, "groups": ["gender=F"]}, "about all users, and names groups"),
    ],
)
def test_what_such_a_rule_cannot_be_is_said(given, said):
    with pytest.raises(InputError, match=said):
        fairrec.gate(audit_users(permutations=0), {"rule": [{"metric": "mrr@5", **given}]})


def test_a_policy_may_ask_that_nobody_is_affected():
    nobody = Rule(metric="affected@3", max_affected=0)
    assert judge_affected(nobody, share(0.0, 0.0), 1).outcome == "passed"
    assert judge_affected(nobody, share(0.0, 0.01), 1).outcome == "inconclusive"
    assert judge_affected(nobody, share(0.001, 0.001), 1).outcome == "failed"


RULE = {"metric": "hits", "trend": "not_worse"}


def release(number: int, lost: float) -> fairrec.AuditResult:
    """New users each time; one group of 300 loses so much."""
    rng = np.random.default_rng(number)
    age = np.where(np.arange(1500) < 300, "60+", "18")
    hits = rng.beta(4, 4, 1500) - lost * (age == "60+")
    values = {"age": age, "hits": hits, "steady": rng.normal(size=1500)}
    return fairrec.audit(
        values=pl.DataFrame({"user_id": np.arange(1500) + 1500 * number, **values}),
        by="age",
        tables=fairrec.Tables(better="hits=higher,steady=higher"),
        statistics=fairrec.Statistics(permutations=39),
        about=fairrec.About(model_version=f"v{number}"),
    )


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    folder = tmp_path_factory.mktemp("history")
    for number in range(6):
        release(number, 0.2 * (number > 3)).save(folder / f"v{number}", report=False)
    return folder


def test_a_group_that_became_worse_fails(history):
    found = fairrec.gate(release(6, 0.2), {"rule": [RULE]}, releases=history)
    (rule,) = found.rules
    assert (found.outcome, rule.kind, rule.n_failed) == ("failed", "trend", 1)
    assert rule.what == "hits: no group has become worse over 7 releases"
    assert rule.measured.startswith("age=60+ is worse by 0.1") and " since v4 (" in rule.measured
    assert rule.decided_by.label == "age=60+"


def test_the_audit_itself_may_lie_among_them(history):
    found = fairrec.gate(history / "v5", {"rule": [RULE]}, releases=history)
    assert found.rules[0].what.endswith("over 6 releases")


def test_other_groups_and_metrics_are_no_matter(history):
    rule = {**RULE, "groups": ["age=18"]}
    assert fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history).outcome == "passed"
    asked = fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history).rules[0].what
    assert asked.startswith("hits: none of 1 named group has become worse")
    rule = {**RULE, "metric": "steady"}
    assert fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history).outcome == "passed"


def test_a_group_that_the_audit_does_not_have_is_no_group_that_passes(history):
    rule = {**RULE, "groups": ["age=6O+"]}
    with pytest.raises(ValueError, match=r"rule 1: No value of age '6O\+'\. Did you mean"):
        fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history)


def test_releases_whose_small_groups_are_hidden_are_refused(tmp_path):
    for number in range(3):
        release(number, 0.0).save(tmp_path / f"v{number}", report=False, min_shown=400)
    with pytest.raises(InputError, match="rule 1: small groups are hidden in v0, v1, v2"):
        fairrec.gate(release(3, 0.2), {"rule": [RULE]}, releases=tmp_path)


def test_where_nothing_changed_it_passes_and_says_what_that_means(tmp_path):
    for number in range(3):
        release(number, 0.0).save(tmp_path / f"v{number}", report=False)
    found = fairrec.gate(release(3, 0.0), {"rule": [RULE]}, releases=tmp_path)
    assert found.outcome == "passed"
    assert found.rules[0].measured == "shown of no group, which rules nothing out"


def test_releases_must_be_given():
    with pytest.raises(InputError, match="rule 1: has trend, and no earlier releases were given"):
        fairrec.gate(release(0, 0.0), {"rule": [RULE]})


LIMIT = 0.03


@cache
def audited(n_hidden: int = 200, **options) -> AuditResult:
    """2,000 women and 2,000 men with values around 0.5, but for 200 women who have 0.

    The gender of these is hidden first, then that of a few men.
    """
    rng = np.random.default_rng(4)
    gender = np.repeat(["F", "M"], 2000).astype(object)
    values = np.clip(0.5 + 0.1 * rng.normal(size=4000), 0, 1)
    values[:200] = 0
    gender[:n_hidden] = None
    plan = np.where(np.arange(4000) % 3, "free", "paid")
    users = pl.DataFrame({"user_id": range(4000), "plan": plan}).with_columns(
        gender=pl.Series(gender.tolist(), dtype=pl.String)
    )
    table = pl.DataFrame({"user_id": range(4000), "hits": values})
    usual = {"by": "gender,plan", "better": "hits=higher", "tolerance": f"hits={LIMIT}"}
    return fairrec.audit(
        **group_options(
            values=table, users=users, **{**usual, "permutations": 199, "seed": 1, **options}
        )
    )


def rule(**changes) -> dict:
    return {"metric": "hits", "max_worse": LIMIT, "groups": ["gender=F"], **changes}


def gate(result: AuditResult, **changes):
    return fairrec.gate(result, policy_of(rule(**changes)))


def test_what_is_hidden_passes_as_measured_and_is_open_at_worst():
    known, hidden = gate(audited(0)), gate(audited())
    assert (known.outcome, hidden.outcome) == ("failed", "passed")
    assert "if users of unknown attributes are like the others (at worst gender=F by 0.0" in str(
        hidden
    )
    at_worst = gate(audited(), unknown="worst")
    assert at_worst.outcome == "inconclusive"
    assert "whichever users of unknown attributes belong to it" in str(at_worst)
    assert gate(audited(), unknown="worst", max_worse=0.12).outcome == "passed"
    # those who are known decide what fails
    assert gate(audited(0), unknown="worst").outcome == "failed"


def test_a_rule_that_passes_names_a_bound_that_only_chance_takes_beyond_its_limit():
    (women,) = audited().group_table.filter(gender="F", depth=1).to_dicts()
    bound = -women["unknown_low"]
    with_chance = bound + women["difference"] - women["simultaneous_low"]
    assert bound > 0
    limit = round((bound + with_chance) / 2, 6)
    assert bound < limit < with_chance
    passing, strict = (
        gate(audited(), max_worse=limit),
        gate(audited(), unknown="worst", max_worse=limit),
    )
    assert (passing.outcome, strict.outcome) == ("passed", "inconclusive")
    assert f"(at worst gender=F by {with_chance:.4f})" in str(passing)


def test_the_interval_at_worst_holds_the_difference_that_is_there():
    at_worst = difference_harms(audited().group_table, audited().summary, "hits", is_at_worst=True)
    as_measured = difference_harms(audited().group_table, audited().summary, "hits")
    truth = difference_harms(audited(0).group_table, audited(0).summary, "hits")
    there = truth.size[truth.position({"gender": "F"})]
    at = at_worst.position({"gender": "F"})
    assert as_measured.interval.high[at] < there < at_worst.interval.high[at]
    (women,) = audited().group_table.filter(gender="F", depth=1).to_dicts()
    by_bound = women["difference"] - women["unknown_low"]
    assert at_worst.interval.high[at] == approx(as_measured.interval.high[at] + by_bound)
    assert as_measured.at_worst[at] == at_worst.interval.high[at]
    assert at_worst.interval.low[at] == as_measured.interval.low[at]
    # of a plan everything is known
    of_plan = at_worst.position({"plan": "paid"})
    assert at_worst.interval.high[of_plan] == as_measured.interval.high[of_plan]
    assert at_worst.outcomes(LIMIT)[of_plan] != at_worst.outcomes(LIMIT)[at]


def test_a_difference_in_either_direction_has_the_larger_end():
    parts = (audited().group_table, audited().summary, "hits")
    either = difference_harms(*parts, either_way=True, is_at_worst=True)
    one_way = difference_harms(*parts, is_at_worst=True)
    at = either.position({"gender": "F"})
    assert either.interval.high[at] == approx(one_way.interval.high[at])
    men = either.position({"gender": "M"})
    assert either.interval.high[men] > one_way.interval.high[men]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_worse": None, "min_ratio": 0.8}, "goes with max_worse or max_difference"),
        ({"baseline": "no_group_worse", "max_worse": None}, "goes with max_worse or max_diff"),
        ({"unknown": "best"}, "unknown must be 'worst', not 'best'"),
    ],
)
def test_other_rules_have_no_worst_case(changes, message):
    asked = rule(**{"unknown": "worst", **changes})
    given = {name: value for name, value in asked.items() if value}
    with pytest.raises(InputError, match=message):
        policy_of(given)


def test_where_bounds_are_not_known_the_worst_case_is_refused():
    given = audited(adjust_for="plan", by="gender")
    with pytest.raises(InputError, match="compared in given circumstances"):
        gate(given, unknown="worst")


def test_a_group_whose_bounds_are_hidden_is_open():
    few = audited(n_hidden=8)
    assert gate(few, unknown="worst", max_worse=0.2).outcome == "passed"
    shown = few.shown(10)
    assert shown.group_table.filter(gender="F")["unknown_low"].is_null().all()
    assert gate(shown, unknown="worst", max_worse=0.2).outcome == "inconclusive"


@cache
def unknown_at_random() -> AuditResult:
    """Nobody is worse off; gender is unknown of 400, twice as many as women."""
    rng = np.random.default_rng(7)
    gender = rng.choice(np.array(["F", "M", None], dtype=object), 4000, p=[0.05, 0.85, 0.1])
    users = pl.DataFrame({"user_id": range(4000)}).with_columns(
        gender=pl.Series(gender.tolist(), dtype=pl.String)
    )
    table = pl.DataFrame({"user_id": range(4000), "hits": 0.5 + 0.1 * rng.normal(size=4000)})
    options = {"by": "gender", "better": "hits=higher", "tolerance": "hits=0.035"}
    return fairrec.audit(**group_options(values=table, users=users, permutations=199, **options))


def test_text_page_and_files_name_the_bound_in_the_sentence_that_rules_out(tmp_path):
    result = unknown_at_random()
    verdict = result.verdict.metrics["hits"]
    assert verdict.outcome == "within tolerance"
    # of men too: those of the unknown who are served best may be women
    assert verdict.at_worst.group == {"gender": "F"} and verdict.n_exceeding_at_worst == 2
    least = verdict.at_worst.at_worst
    row = result.groups("hits").filter(pl.col("gender") == "F").row(0, named=True)
    by_chance = row["simultaneous_low"] - row["difference"]
    assert least == approx(row["unknown_low"] + by_chance) and least < -0.035
    share = percent(verdict.at_worst.n_unknown / 4000)
    said = (
        f"if the {share} of unknown gender are like the others; at worst {signed(least)} "
        "for gender=F"
    )
    view = build_view(result.summary)
    assert view.verdicts[0].status_said == f"within tolerance, {said}"
    assert f"none is open; this holds {said}." in view.verdicts[0].ruled_out
    assert view.overview.headline.startswith(
        f"Every group of a single attribute is within tolerance, {said}; none of 3 groups"
    )
    assert said in to_markdown(view)
    assert said in page_html(result.summary, result.group_table)
    assert "(2 if those of unknown attributes are like the others)" in repr(result.verdict)
    saved = fairrec.load(result.save(tmp_path / "audit", report=False))
    assert saved.verdict == result.verdict
    assert gate(saved, unknown="worst", max_worse=0.035).outcome == "inconclusive"


def test_where_no_bound_reaches_beyond_what_matters_nothing_is_added():
    result = audited(8, tolerance="hits=0.3")
    verdict = result.verdict.metrics["hits"]
    assert verdict.at_worst is None and verdict.n_exceeding_at_worst == 0
    assert build_view(result.summary).verdicts[0].if_like_others == ""
