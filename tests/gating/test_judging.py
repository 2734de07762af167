"""Rules and what becomes of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pytest import approx

import fairrec
from fairrec.auditing.harms import difference_harms
from fairrec.core.errors import InputError
from fairrec.counterfactuals.result import Affected
from fairrec.gating.judging import Measurements, judge_affected, judge_policy
from fairrec.gating.policy import Rule
from fairrec.report.audit_result import AuditResult
from tests.comparison.two_sides import audit_users
from tests.counterfactuals.flipped_world import blind, flipped
from tests.end_to_end.command_line import run_here
from tests.gating.judged_world import audit_values, measured, planted, policy_of


def outcome(rule, given=None, **require):
    found = judge_policy(policy_of(rule, **require), given or measured(), "fairrec.toml")
    return found[0]


def test_a_group_shown_worse_by_more_fails_whatever_its_size():
    found = outcome({"metric": "hits", "max_worse": 0.03}, certify_from=1000)
    assert (found.outcome, found.n_failed) == ("failed", 2)
    assert found.decided_by.label == "gender=F, age=56+"
    assert found.decided_by.support < 1000
    assert found.decided_by.interval[0] > 0.03


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"metric": "hits", "max_worse": 0.5}, "passed"),
        ({"metric": "lean", "max_difference": 0.5}, "passed"),
        ({"metric": "hits", "max_difference": 0.1}, "failed"),
        ({"metric": "hits", "min_ratio": 0.8}, "failed"),
        ({"metric": "clicks", "min_ratio": 0.8}, "passed"),
        # the tolerance of the audit
        ({"metric": "hits"}, "failed"),
    ],
)
def test_a_limit_is_judged_by_every_interval(rule, expected):
    found = outcome(rule)
    assert (found.outcome, found.n_failed > 0) == (expected, expected == "failed")
    assert found.limit == rule.get(found.kind, 0.03)
    # without certify_from every group of a single attribute
    assert found.n_ruled_out + found.n_open == 5


def bounded() -> Measurements:
    result = planted()
    about = result.summary.metrics["hits"].model_copy(update={"bounds": (0.0, 1.0)})
    neutral = result.summary.metrics["clicks"].model_copy(update={"higher_is_better": None})
    metrics = {**result.summary.metrics, "hits": about, "clicks": neutral}
    return Measurements(result.summary.model_copy(update={"metrics": metrics}), result.group_table)


BASELINE = {"baseline": "no_group_worse", "tolerance": 0.1}


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ({"metric": "wait"}, "has no limit, and the audit has no tolerance"),
        ({"metric": "hit", "max_worse": 0.1}, "No metric in this audit 'hit'. Did you mean 'hits'"),
        ({"metric": "hits", "max_worse": 1}, "max_worse = 1: hits runs from 0 to 1, so nothing"),
        ({"metric": "lean", "max_difference": "5%"}, "has no share of its mean"),
        ({"metric": "lean", "max_worse": 0.5}, "Limit the difference instead: max_difference"),
        ({"metric": "lean", **BASELINE}, "neither end of lean is better"),
        ({"metric": "hits", **BASELINE}, "has baseline, which needs baseline"),
        ({"metric": "hits", "trend": "not_worse"}, "has trend, which needs releases"),
        ({"metric": "lean", "min_ratio": 0.8}, "min_ratio needs a metric whose zero means none"),
        ({"metric": "clicks", "min_ratio": 0.8}, "that has a better end"),
        ({"metric": "hits", "groups": ["gendr=F"], "max_worse": 0.1}, "Did you mean 'gender'"),
        ({"metric": "hits", "groups": ["gender=X"], "max_worse": 0.1}, "No value of gender 'X'"),
        ({"metric": "wait", "max_worse": 5, "certify_from": 3}, "certify_from is 3, but the audit"),
    ],
)
def test_a_rule_that_cannot_be_judged_is_bad_input(rule, says):
    rule = {**rule}
    require = {"certify_from": size} if (size := rule.pop("certify_from", None)) else {}
    with pytest.raises(InputError) as error:
        outcome(rule, bounded(), **require)
    assert str(error.value).startswith("fairrec.toml: rule 1: ") and says in str(error.value)


@pytest.mark.parametrize(
    ("limit", "columns"),
    [
        # an interval beyond the limit of a group that does not stand out shows nothing
        (0.03, {"is_beyond_chance": False}),
        (0.5, {"is_known": False}),
        # not tested
        (0.5, {"is_known": None, "is_beyond_chance": None}),
    ],
)
def test_what_chance_explains_and_what_is_not_known_is_inconclusive(limit, columns):
    given = measured(**columns)
    assert outcome({"metric": "hits", "max_worse": limit}, given).outcome == "inconclusive"


def test_groups_that_nobody_has_are_no_all_clear():
    found = outcome({"metric": "clicks", "max_worse": 5}, certify_from=3990)
    assert (found.outcome, found.decided_by) == ("inconclusive", None)
    assert "no group of 3,990 users or more" in found.measured


def test_named_groups_must_be_ruled_out_whatever_their_size():
    rule = {"metric": "clicks", "max_worse": 0.35, "groups": ["gender=F,age=56+"]}
    assert outcome(rule, certify_from=300).outcome == "inconclusive"
    assert outcome({**rule, "groups": ["gender=F"]}).outcome == "passed"
    # and others are no matter
    assert outcome({"metric": "hits", "max_worse": 0.2, "groups": ["gender=M"]}).outcome == "passed"


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


def test_a_group_in_covariates_of_its_own_is_no_all_clear():
    group = np.repeat(["a", "b", "c"], 400)
    values = np.random.default_rng(0).normal(5, 1, 1200) - 3 * (group == "a")
    given = {"g": group, "land": np.where(group == "a", "X", "Y")}
    result = audit_values(given, values, "v", by="g", adjust_for="land")
    given = Measurements(result.summary, result.group_table)
    rule = {"metric": "v", "max_worse": 0.9}
    for found in (
        outcome(rule, given, certify_from=100),
        outcome({**rule, "groups": ["g=a"]}, given),
    ):
        assert found.outcome == "inconclusive"
        assert "g=a (400 users) is not compared" in found.measured


def share(low: float, high: float) -> Affected:
    middle = (low + high) / 2
    return Affected(
        metric="affected@3",
        n=100,
        n_affected=round(100 * middle),
        share=middle,
        low=low,
        high=high,
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
    if (low, high) == (0.01, 0.0501):
        # the digits that decide are shown
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
    printed = " ".join(ran.stdout.splitlines())
    said = "affected@3: at most 5% of users are affected | 100% of 600 users are, and all were"
    assert f"FAIL  {said} scored" in printed
    assert "to pass: fewer users would have to be affected: at most 5%" in printed


def test_only_a_counterfactual_and_its_own_metric_are_judged_so():
    users = audit_users(permutations=0)
    with pytest.raises(InputError, match="rule 1: has max_affected, which is about a counterf"):
        fairrec.gate(users, {"rule": [{"metric": "mrr@5", "max_affected": 0.1}]})
    found = flipped(blind, permutations=0)
    with pytest.raises(InputError, match='Write metric = "affected@3"'):
        fairrec.gate(found, {"rule": [{"metric": "changed@3", "max_affected": 0.1}]})


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


def test_other_groups_and_metrics_are_no_matter(history):
    rule = {**RULE, "groups": ["age=18"]}
    assert fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history).outcome == "passed"
    asked = fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history).rules[0].what
    assert asked.startswith("hits: none of the named groups has become worse")
    rule = {**RULE, "metric": "steady"}
    assert fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history).outcome == "passed"


def test_a_group_that_the_audit_does_not_have_is_no_group_that_passes(history):
    rule = {**RULE, "groups": ["age=6O+"]}
    with pytest.raises(ValueError, match=r"rule 1: No value of age .6O\+.. Did you mean .60\+"):
        fairrec.gate(release(6, 0.2), {"rule": [rule]}, releases=history)


def test_a_named_group_that_cannot_be_followed_does_not_pass(tmp_path):
    """The groups of other rules can be followed, and these pass."""
    newest = audit_values({"age": np.repeat(["18", "70"], 500)}, np.arange(1000) % 2)
    older = audit_values({"age": np.repeat(["18", "60+"], 500)}, np.arange(1000) % 2)
    for number in range(2):
        older.save(tmp_path / f"v{number}", report=False)
    rules = [RULE, {**RULE, "groups": ["age=70"]}, {**RULE, "groups": ["age=18", "age=70"]}]
    found = fairrec.gate(newest, {"rule": rules}, releases=tmp_path)
    assert [one.outcome for one in found.rules] == ["passed", "inconclusive", "inconclusive"]
    assert found.exit_code == 3
    assert found.rules[1].measured.startswith("not every named group can be followed")


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


LIMIT = 0.03


@cache
def audited(n_hidden: int = 200, **options) -> AuditResult:
    """2,000 women and 2,000 men with values around 0.5, but for 200 women who have 0.

    The gender of these is hidden first, then that of a few men.
    """
    gender = np.repeat(["F", "M"], 2000).astype(object)
    values = np.clip(0.5 + 0.1 * np.random.default_rng(4).normal(size=4000), 0, 1)
    values[:200] = 0
    gender[:n_hidden] = None
    plan = np.where(np.arange(4000) % 3, "free", "paid")
    usual = {"tolerance": f"hits={LIMIT}", "seed": 1}
    return audit_values({"gender": gender, "plan": plan}, values, **{**usual, **options})


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


def test_where_bounds_are_not_known_the_worst_case_is_refused():
    given = audited(adjust_for="plan", by="gender")
    with pytest.raises(InputError, match="needs an audit that scored everyone, without adjust_for"):
        gate(given, unknown="worst")
