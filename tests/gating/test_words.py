"""Rules in words."""

from __future__ import annotations

from types import SimpleNamespace

import polars as pl
import pytest

from fairrec.gating.harms import harms_in
from fairrec.gating.judging import Measurements, judge_policy
from fairrec.gating.words import Said, headline
from tests.gating.judged_gate import gate_of, rule_of
from tests.gating.judged_world import measured, planted, policy_of


def said(rule, **require):
    found = judge_policy(policy_of(rule, **require), measured(), "p.toml")[0]
    return found.what, found.measured, found.explanation


def test_a_failed_rule_names_the_group_that_is_surely_worst():
    what, told, explained = said({"metric": "hits", "max_worse": 0.03})
    assert what == "hits: no group is worse by more than 0.03"
    assert told.startswith("gender=F, age=56+ (176 users) is worse by 0.2")
    assert told.endswith("; 1 other group fails too")
    assert explained == (
        "the interval of gender=F, age=56+ and of 1 other group would have to stay within 0.03"
    )


def test_a_passed_rule_says_for_whom_and_what_comes_closest():
    _, told, explained = said({"metric": "clicks", "max_worse": 5}, certify_from=300)
    assert told.startswith("ruled out for 9 groups of 300 users or more; closest is age=56+ (")
    assert explained == "passes"


def test_an_open_rule_says_what_it_would_take():
    rule = {"metric": "clicks", "max_worse": "9%"}
    what, told, explained = said(rule, certify_from=300)
    assert what.startswith("clicks: no group is worse by more than 9% of the mean (0.27")
    assert told.startswith("open for 1 of 9 groups of 300 users or more; age=56+ (")
    assert "times as many users" in explained
    # what it proposes is enough
    proposed = dict(part.split(" = ") for part in explained.split("; or ") if " = " in part)
    limit = {"metric": "clicks", "max_worse": float(proposed["max_worse"])}
    assert said(limit, certify_from=300)[2] == "passes"
    assert said(rule, certify_from=int(proposed["certify_from"]))[2] == "passes"


def test_a_group_of_one_audit_only_is_open_and_it_is_said_why():
    numbers = ("difference", "simultaneous_low", "simultaneous_high")
    table = planted().group_table.with_columns(
        *(pl.lit(None, pl.Float64).alias(name) for name in numbers),
        is_known=False,
        is_beyond_chance=False,
    )
    table = table.filter(pl.col("age") == "56+", pl.col("gender").is_null())
    harms = harms_in(
        table.rename({"difference": "change"}), ["age"], "hits", True, "change", is_conclusive=True
    )
    given = Measurements(planted().summary, planted().group_table, lambda metric: harms)
    rule = {"metric": "hits", "baseline": "no_group_worse", "tolerance": 0.5}
    found = judge_policy(policy_of(rule), given, "p.toml")[0]
    assert (found.outcome, found.decided_by.measured) == ("inconclusive", None)
    assert "age=56+ (" in found.measured
    assert found.measured.endswith(
        "has values in only one of the two audits, so it is not compared"
    )
    assert found.explanation == "age=56+ would have to have values in both audits"


def test_a_proposed_ratio_is_enough():
    rule = {"metric": "clicks", "min_ratio": 0.95}
    what, told, explained = said(rule)
    assert what == "clicks: no group has less than 0.95 of all others'"
    assert " of all others' (" in told
    proposed = dict(part.split(" = ") for part in explained.split("; or ") if " = " in part)
    assert said({"metric": "clicks", "min_ratio": float(proposed["min_ratio"])})[2] == "passes"


def test_named_groups_and_what_matters_are_said():
    what = said({"metric": "hits", "groups": ["gender=F", "gender=M"]})[0]
    assert what == "hits: none of 2 named groups is worse by more than what matters, 0.03"


@pytest.mark.parametrize(
    ("rules", "inconclusive", "says"),
    [
        (["failed", "passed"], None, "Failed: 1 of 2 checks."),
        (["inconclusive"], None, "Inconclusive: 1 of 1 check, none failed."),
        (
            ["inconclusive"],
            "pass",
            "Inconclusive: 1 of 1 check, none failed, which counts as passed.",
        ),
        (["passed"], None, "Passed: 1 check."),
    ],
)
def test_the_headline(rules, inconclusive, says):
    assert headline(gate_of(*map(rule_of, rules), inconclusive=inconclusive)) == says


def test_the_headline_counts_warnings():
    said_ = headline(gate_of(rule_of("passed"), rule_of("failed", "warn")))
    assert said_ == "Passed: 1 check; 1 warning."


@pytest.mark.parametrize("size", [5e-324, 1e-322, 0.0123456])
def test_a_limit_is_rounded_to_where_it_still_holds_however_small(size):
    rule = SimpleNamespace(rule=SimpleNamespace(kind="max_worse"))
    assert float(Said._limit_as_given(rule, size)) >= size
