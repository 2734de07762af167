"""The answer of an audit, in worlds made by hand."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri

import fairrec
from fairrec.report.audit_answer import attribute_margins, audit_answer
from fairrec.report.view import build_view
from fairrec.report.words import number
from fairrec.search.options import Search
from tests.report.planted import given_result, planted, planted_result, resolve_audit


def answer_of(result):
    return build_view(result.summary, result.group_table).answer


def test_the_headline_is_who_and_how_much():
    found = answer_of(planted())
    finding = planted().metrics["auc"].findings[0]
    others = number(finding.value - finding.difference)
    assert found.tone == "found"
    assert found.headline == (
        f"gender=F, age=65+ is served worse: auc {number(finding.value)} instead of {others}, "
        "significant (adjusted p \u2264 0.005)"
    )
    assert found.about == ("2,000 users, 40,000 candidates; 171 groups by gender, age, job",)
    assert found.table.columns[0] == "auc"
    assert found.others == ("mrr@5: worse: gender=F, age=65+ 0 instead of 0.368",)


def test_the_table_has_each_value_then_findings_of_several_attributes():
    table = answer_of(planted()).table
    assert [block.name for block in table.blocks] == ["gender", "age", "job", ""]
    gender, age, job, deeper = table.blocks
    assert [row.label for row in gender.rows] == ["F", "M"]
    assert [row.label for row in age.rows] == ["18-24", "25-34", "35-64", "65+"]
    # more than eight values take a line
    assert (
        job.is_short
        and job.rows == ()
        and job.in_short.startswith("20 groups, none significantly worse")
    )
    assert deeper.rows[0].label == "gender=F, age=65+"
    about = planted().group_table.filter(metric="auc", gender="F", depth=1).row(0, named=True)
    cells = gender.rows[0].cells
    assert cells[0] == f"{about['support']:,}"
    for text, name in ((cells[1], "value"), (cells[2], "difference")):
        assert float(text.replace("\u2212", "-")) == pytest.approx(about[name], abs=0.005)


def test_a_group_is_told_once_with_all_its_metrics():
    found = answer_of(resolve_audit({"a": 0.1, "b": 0.2, "c": 0.1}))
    # the larger effect first, and that without a better end last
    assert found.headline.startswith("gender=F, age=old is served worse: b ")
    assert found.table.columns[0] == "b"
    a, c = found.others
    assert a.startswith("a: worse: gender=F, age=old 0.")
    assert c.startswith("c: differs: gender=F, age=old 0.")


def test_a_metric_without_a_better_end_changes_neither_tone_nor_answer_of_the_others():
    found = answer_of(resolve_audit({"a": 0.0, "c": 0.2}, tolerance="a=0.05,c=0.05"))
    assert found.tone == "clear"
    assert found.headline.startswith(
        "No group is significantly worse; gender=F, age=old is different: c 0."
    )
    assert found.table.columns[0] == "a"
    alone = answer_of(resolve_audit({"c": 0.0}, tolerance="c=0.05"))
    assert alone.tone == "clear"
    assert alone.headline.startswith("Every group of a single attribute is within tolerance")


def test_nothing_found_does_not_show_that_groups_are_equal():
    result = resolve_audit({"a": 0.0})
    found = answer_of(result)
    assert found.tone == "open"
    assert found.headline == (
        "No significant difference among 8 groups; this does not show they are equal."
    )
    assert re.match(
        r"80% power to detect a harm of 0\.\d+ in a group of \d+, 0\.0\d+ in", found.about[0]
    )
    assert found.sentences[0].startswith("Ruled out: no group of ")
    assert "after shrinkage: −0.0088 (−0.0198 to +0.0022)" in found.about[1]
    assert found.about[1].startswith("Look first at ")


def test_a_tolerance_is_suggested_that_these_users_can_rule_out():
    result = resolve_audit({"a": 0.0})
    (step,) = answer_of(result).next_steps
    suggested, name = re.search(r"tolerance='(\d+)%' \(without harm in (\w+), ", step).groups()
    margins = attribute_margins(result.summary, result.group_table, "a")
    assert name == min(margins, key=margins.get)
    for attribute, margin in margins.items():
        rows = result.group_table.filter(pl.col(attribute).is_not_null(), metric="a", depth=1)
        half = (rows["difference_high"] - rows["difference_low"]) / 2
        # of two groups one is off to the wrong side by chance: by so much in one audit of five
        by_chance = half * ndtri(1 - 0.2 / rows.height) / ndtri(0.975)
        reach = (rows["difference"] - rows["simultaneous_low"] + by_chance).max()
        assert margin == pytest.approx(reach)
    assert int(suggested) >= 100 * margins[name] / result.metrics["a"].mean
    # what is suggested is what is ruled out where groups do not differ
    again = resolve_audit({"a": 0.0}, tolerance=f"{suggested}%")
    assert again.summary.outcome == "within tolerance"


def test_too_few_permutations_are_the_reason_that_nothing_was_tested():
    least = "statistics=fairrec.Statistics(permutations=19) or more can (1/alpha - 1)"
    found = answer_of(resolve_audit({"a": 0.3}, permutations=10))
    assert found.headline == "Nothing was tested for significance"
    assert found.about[0] == f"10 permutations cannot give a p-value of 0.05: {least}"
    enough = answer_of(resolve_audit({"a": 0.3}, permutations=19))
    assert enough.headline != "Nothing was tested for significance"


def test_what_to_do_next_fits_what_was_found():
    look = "inspect the recommendations of these users"
    assert look in answer_of(resolve_audit({"a": 0.2})).next_steps
    found = answer_of(planted())
    command = "re-rank their lists: fairrec mitigate AUDIT --metric auc"
    assert f"{command} --history FILE" in found.next_steps
    summary = planted().summary
    inputs = {**summary.inputs, "history": summary.inputs["users"]}
    with_history = summary.model_copy(update={"inputs": inputs})
    steps = audit_answer(with_history, build_view(with_history).verdicts).next_steps
    assert command in steps
    open_ = answer_of(resolve_audit({"a": 0.0}, tolerance="0.001")).next_steps
    assert any("fairrec plan AUDIT (docs/how-to/inconclusive.md)" in step for step in open_)
    certain = answer_of(resolve_audit({"a": 0.0}, tolerance="0.5")).next_steps
    assert certain == ("write a policy for the next release: fairrec init AUDIT",)
    said = answer_of(resolve_audit({"a": 0.2}, tolerance="0.05")).next_steps
    assert not any("tolerance" in step for step in said)


def test_an_audit_that_is_not_saved_is_saved_before_a_command_reads_it():
    summary = planted().summary
    saved = build_view(summary).answer.next_steps
    first, *rest = build_view(summary, is_saved=False).answer.next_steps
    assert first == f"{saved[0]}, after saving this audit (--out AUDIT)"
    assert tuple(rest) == saved[1:]


def test_in_read_covariates_the_headline_has_the_adjusted_difference():
    result = given_result()
    finding = result.metrics["q"].findings[0]
    # as it is the group is served better
    assert finding.group == {"gender": "M", "place": "north"}
    assert finding.difference < 0 < finding.raw_difference
    found = answer_of(result)
    assert found.headline == (
        "gender=M, place=north is served worse: q "
        f"{number(-finding.difference)} lower than that of others with the same tenure, "
        "significant (adjusted p \u2264 0.005)"
    )
    others = number(finding.value - finding.raw_difference)
    assert found.about[0].startswith(f"Unadjusted: {number(finding.value)} instead of {others}")
    assert found.table.columns[3] == "adj. diff."


def test_more_findings_than_are_listed_are_not_said_to_be_all(monkeypatch):
    monkeypatch.setattr("fairrec.statistics.findings.MAX_FINDINGS", 50)
    rng = np.random.default_rng(0)
    city = np.arange(20000) % 200
    q = rng.normal(0, 0.3, 200)[city] + rng.normal(0, 0.05, 20000)
    table = pl.DataFrame({"user_id": range(20000), "city": [f"C{at}" for at in city], "q": q})
    result = fairrec.audit(
        values=table,
        by="city",
        tables=fairrec.Tables(better="q=higher"),
        statistics=fairrec.Statistics(permutations=199),
    )
    verdict, findings = result.metrics["q"].verdict, result.metrics["q"].findings
    assert verdict.n_worse + verdict.n_better > len(findings) == 50
    found = answer_of(result)
    n_worse = sum(finding.difference < 0 for finding in findings)
    who = f"At least {n_worse} groups are served worse, most of all city="
    assert found.headline.startswith(who)
    (verdict,) = build_view(result.summary).verdicts
    assert "more significant, overlapping these or not listed" in verdict.headline


def test_a_search_of_a_table_with_every_score_is_told_how_to_get_the_exact_answer():
    result = planted_result(search=Search("adaptive", budget_users="30%"))
    exact = "the table has every score: leave out --search and its budget for the exact answer"
    found = answer_of(result)
    assert found.next_steps[0] == exact
    assert not any("raise budget_users" in step for step in found.next_steps)
    search = result.summary.search.model_copy(update={"has_table": False})
    asked = result.summary.model_copy(update={"search": search})
    assert exact not in audit_answer(asked, build_view(asked).verdicts).next_steps


def test_who_is_worse_off_only_beside_a_group_served_better_is_told_with_it():
    rng = np.random.default_rng(3)
    gender, tier = rng.choice(["F", "M"], 4000), rng.choice(["free", "paid"], 4000)
    q = rng.normal(size=4000) + 0.8 * ((gender == "M") & (tier == "paid"))
    table = pl.DataFrame({"user_id": range(4000), "gender": gender, "tier": tier, "q": q})
    result = fairrec.audit(
        values=table,
        by="gender,tier",
        tables=fairrec.Tables(better="q=higher"),
        statistics=fairrec.Statistics(permutations=199),
    )
    found = answer_of(result)
    assert "is served worse" in found.headline
    detail = "Significant only beside gender=M, tier=paid, which is served better"
    assert found.about[0] == detail
