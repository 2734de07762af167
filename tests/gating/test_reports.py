"""The outcome of a gate in words, lines, Markdown, JUnit XML and annotations."""

from __future__ import annotations

from xml.etree import ElementTree

import polars as pl
import pytest
from markdown_it import MarkdownIt

from fairrec.auditing.harms import read_harms
from fairrec.gating.judging import Measurements, judge_policy
from fairrec.gating.reports import (
    headline,
    to_annotations,
    to_junit,
    to_markdown,
    to_text,
)
from tests.gating.judged_world import HOSTILE, gate_of, measured, planted, policy_of, rule_of


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
    assert told.startswith(
        "ruled out for 9 groups of 300 users or more (not required of 2 other groups); "
        "closest: age=56+ ("
    )
    assert explained == "passes"


def test_an_open_rule_says_what_it_would_take():
    rule = {"metric": "clicks", "max_worse": "9%"}
    what, told, explained = said(rule, certify_from=300)
    assert what.startswith("clicks: no group is worse by more than 9% of the mean (0.27")
    assert told.startswith("open for 1 of 9 groups of 300 users or more; age=56+ (")
    assert "times as many users" in explained
    # no limit that is chosen by the result
    assert " = " not in explained


def test_a_group_of_one_audit_only_is_open_and_it_is_said_why():
    numbers = ("difference", "simultaneous_low", "simultaneous_high")
    table = planted().group_table.with_columns(
        *(pl.lit(None, pl.Float64).alias(name) for name in numbers),
        is_known=False,
        is_beyond_chance=False,
    )
    table = table.filter(pl.col("age") == "56+", pl.col("gender").is_null())
    harms = read_harms(
        table.rename({"difference": "change"}), ["age"], "hits", True, "change", is_conclusive=True
    )
    given = Measurements(planted().summary, planted().group_table, lambda metric: harms)
    rule = {"metric": "hits", "baseline": "no_group_worse", "tolerance": 0.5}
    found = judge_policy(policy_of(rule), given, "p.toml")[0]
    assert (found.outcome, found.decided_by.measured) == ("inconclusive", None)
    assert "age=56+ (" in found.measured
    assert found.measured.endswith(
        "is not compared: it is in one audit only, or alone in its covariates"
    )
    assert found.explanation == "age=56+ would have to have values in both audits"


@pytest.mark.parametrize(
    ("rule", "low", "expected"),
    [
        ({"max_worse": 0.35}, None, "more users in gender=M, whose interval has no end"),
        # no ratio is below 0
        ({"min_ratio": 0.9}, -1e3, "the interval of gender=M would have to stay above 0.9"),
    ],
)
def test_what_an_open_rule_needs_is_possible(rule, low, expected):
    given = measured(simultaneous_low=low)
    rule = {"metric": "clicks", "groups": ["gender=M"], **rule}
    assert judge_policy(policy_of(rule), given, "p.toml")[0].explanation == expected


@pytest.mark.parametrize(
    ("rules", "inconclusive", "says"),
    [
        (["failed", "passed"], None, "Failed: 1 of 2 checks."),
        (["inconclusive"], None, "Inconclusive: 1 of 1 check; none failed."),
        (
            ["inconclusive"],
            "pass",
            "Inconclusive, which counts as a pass: 1 of 1 check.",
        ),
        (["passed"], None, "Passed: 1 check."),
        (["passed", "warn"], None, "Passed: 1 check; 1 warning."),
    ],
)
def test_the_headline(rules, inconclusive, says):
    made = [rule_of("failed", "warn") if rule == "warn" else rule_of(rule) for rule in rules]
    assert headline(gate_of(*made, inconclusive=inconclusive)) == says


def test_one_line_a_rule_and_one_for_all():
    gate = gate_of(rule_of("failed"), rule_of("passed"), rule_of("inconclusive", "warn"), look="x")
    assert to_text(gate).split("\n") == [
        "FAIL  hits: what measured | measured",
        "PASS  hits: what measured | measured",
        "OPEN  hits: what measured (warning only) | measured",
        "Failed: 1 of 2 checks. Look deeper: x",
    ]
    lines = to_text(gate, explain=True).split("\n")
    assert lines[1] == "      to pass: explained measured" and len(lines) == 6


def test_one_row_a_rule_whatever_the_text():
    rules = (rule_of("failed", text=HOSTILE.replace("\n", " ")), rule_of("inconclusive", "warn"))
    text = to_markdown(gate_of(*rules, title="<b>spring</b>"), explain=True)
    page = MarkdownIt("commonmark").enable("table").render(text)
    assert page.count("<tr>") == 3 and page.count("<td") == 8
    assert "<i>" not in page and "<b>" not in page
    assert "warning only" in page and "explained measured" in page
    assert page.startswith("<h3>FairRec: Failed: 1 of 1 check.</h3>")


def read(gate):
    suite = ElementTree.fromstring(to_junit(gate)).find("testsuite")
    kinds = []
    for case in suite.iter("testcase"):
        kinds.append(next((part.tag for part in case if part.tag != "system-out"), "passed"))
    return suite, kinds


def test_a_test_case_a_rule():
    rules = ["failed", "inconclusive", "passed"]
    suite, kinds = read(gate_of(*map(rule_of, rules), rule_of("failed", "warn")))
    assert kinds == ["failure", "skipped", "passed", "skipped"]
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["4", "1", "0", "2"]
    assert "explained" in suite.find("testcase/failure").text
    for inconclusive, kind in ((None, "skipped"), ("fail", "failure"), ("pass", "skipped")):
        assert read(gate_of(rule_of("inconclusive"), inconclusive=inconclusive))[1] == [kind]


def test_what_does_not_pass_is_annotated():
    rules = (rule_of("failed"), rule_of("passed"), rule_of("inconclusive"))
    assert to_annotations(gate_of(*rules, rule_of("failed", "warn"))).split("\n") == [
        "::error title=FairRec failed::hits: what measured: measured",
        "::warning title=FairRec inconclusive::hits: what measured: measured",
        "::warning title=FairRec failed::hits: what measured: measured",
        "",
    ]
    assert to_annotations(gate_of(rule_of("passed"))) == ""
    counted = gate_of(rule_of("inconclusive"), inconclusive="fail")
    assert to_annotations(counted).startswith("::error ")


def test_outside_text_begins_no_command():
    text = to_annotations(gate_of(rule_of("failed", text=HOSTILE)))
    assert text.count("\n") == 1 and "50%25" in text


@pytest.mark.parametrize(
    ("outcomes", "inconclusive", "outcome", "exit_code"),
    [
        (["passed", "passed"], None, "passed", 0),
        (["passed", "inconclusive"], None, "inconclusive", 3),
        (["failed", "inconclusive", "passed"], None, "failed", 1),
        (["inconclusive"], "fail", "inconclusive", 1),
        (["inconclusive"], "pass", "inconclusive", 0),
        (["failed", "inconclusive"], "pass", "failed", 1),
    ],
)
def test_what_fails_decides_before_what_is_open(outcomes, inconclusive, outcome, exit_code):
    gate = gate_of(*map(rule_of, outcomes), inconclusive=inconclusive)
    assert (gate.outcome, gate.exit_code) == (outcome, exit_code)
    assert gate.has_passed == (exit_code == 0)
    assert any(map(gate.counts_as_failed, gate.rules)) == (exit_code == 1)
