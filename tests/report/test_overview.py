"""The answer of an audit, in worlds made by hand."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

import fairrec
from fairrec.report.overview import overview
from fairrec.report.view import build_view
from fairrec.report.words import number, signed
from fairrec.search.options import Search
from tests.counts.small_counts import tables
from tests.grouped_options import group_options
from tests.report.planted import given_result, planted, planted_result, resolve_audit


def answer_of(result):
    return build_view(result.summary).overview


def test_the_headline_is_who_and_how_much():
    found = answer_of(planted())
    finding = planted().metrics["auc"].findings[0]
    others = number(finding.value - finding.difference)
    assert found.tone == "found"
    assert found.headline == (
        "gender=F, age=65+ is served worse: ranking quality "
        f"{number(finding.value)} instead of {others}"
    )
    assert found.detail.startswith("61 of 2,000 users (3")
    assert "auc" in found.detail and "not chance (p " in found.detail
    # of every metric, not of that of the headline alone
    assert re.findall(r"[\d.]+ in (\S+)", found.ruled_out) == ["auc", "mrr@5"]


def test_a_group_is_told_once_with_all_its_metrics():
    found = answer_of(resolve_audit({"a": 0.1, "b": 0.2, "c": 0.1}))
    (line,) = found.lines
    assert line.label == "gender=F, age=old"
    # the larger effect first, and that without a better end last
    assert [(mark.metric, mark.served) for mark in line.marks] == [
        ("b", "worse"),
        ("a", "worse"),
        ("c", "differs"),
    ]
    assert line.metric == "b"
    assert found.who == ("1 group worse", "0 better")
    assert "finding in 3 of 3 metrics" in found.how_much


def test_a_metric_without_a_better_end_changes_neither_tone_nor_answer_of_the_others():
    found = answer_of(resolve_audit({"a": 0.0, "c": 0.2}, tolerance="a=0.05,c=0.05"))
    assert found.tone == "clear"
    assert found.headline.startswith(
        "No group is shown to be worse off; gender=F, age=old is different: c 0."
    )
    alone = answer_of(resolve_audit({"c": 0.0}, tolerance="c=0.05"))
    assert alone.tone == "clear"
    assert alone.headline.startswith("Every group of a single attribute is within tolerance")


def test_nothing_found_is_no_all_clear():
    found = answer_of(resolve_audit({"a": 0.0}))
    assert found.tone == "open"
    assert found.headline == "No group of 8 stood out; that is no all-clear"
    assert found.detail.startswith("A harm of 0.0") and "4 times in 5" in found.detail
    assert found.lines == () and found.how_much == ()
    assert found.ruled_out.startswith("None of the 8 groups of ")


def test_too_few_permutations_are_the_reason_that_nothing_was_tested():
    least = "permutations=19 or more can (1/alpha - 1)"
    for n, said in ((0, "0 permutations"), (1, "1 permutation"), (10, "10 permutations")):
        found = answer_of(resolve_audit({"a": 0.3}, permutations=n))
        assert found.headline == "Nothing was tested against chance"
        assert found.detail == f"{said} cannot give a p-value of 0.05: {least}"
    enough = answer_of(resolve_audit({"a": 0.3}, permutations=19))
    assert enough.headline != "Nothing was tested against chance"


def test_what_to_do_next_fits_what_was_found():
    assert "look at what these users got" in answer_of(resolve_audit({"a": 0.2})).next_steps
    found = answer_of(planted())
    command = "re-rank their lists: fairrec mitigate AUDIT --metric auc"
    assert f"{command} --history FILE" in found.next_steps
    summary = planted().summary
    inputs = {**summary.inputs, "history": summary.inputs["users"]}
    with_history = summary.model_copy(update={"inputs": inputs})
    steps = overview(with_history, build_view(with_history).verdicts).next_steps
    assert command in steps
    counted = answer_of(
        fairrec.audit(
            counts=fairrec.count(**group_options(**tables())),
            statistics=fairrec.Statistics(permutations=199),
        )
    )
    assert "look at what these users got" in counted.next_steps
    none = answer_of(resolve_audit({"a": 0.0})).next_steps
    assert any("fairrec plan" in step for step in none)
    certain = answer_of(resolve_audit({"a": 0.0}, tolerance="0.5")).next_steps
    assert certain == ("write a policy for the next release: fairrec init AUDIT",)
    said = answer_of(resolve_audit({"a": 0.2}, tolerance="0.05")).next_steps
    assert not any("tolerance" in step for step in said)


def test_an_audit_that_is_not_saved_is_saved_before_a_command_reads_it():
    summary = planted().summary
    steps = build_view(summary, is_saved=False).overview.next_steps
    assert steps[0] == "save this audit, which the next command reads: --out AUDIT"
    assert steps[1:] == build_view(summary).overview.next_steps
    alone = resolve_audit({"a": 0.2}).summary
    assert build_view(alone, is_saved=False).overview == build_view(alone).overview


def test_in_given_circumstances_the_headline_has_the_adjusted_difference():
    result = given_result()
    finding = result.metrics["q"].findings[0]
    # as it is the group is served better
    assert finding.group == {"gender": "M", "place": "north"}
    assert finding.difference < 0 < finding.raw_difference
    found = answer_of(result)
    assert found.headline == (
        "gender=M, place=north is served worse: q "
        f"{number(-finding.difference)} lower than that of others with the same tenure"
    )
    assert found.detail.endswith("whatever the circumstances")
    adjusted, as_it_is = signed(finding.difference), signed(finding.raw_difference)
    assert f"shrunken; {adjusted} adjusted, {as_it_is} as it is" in found.how_much


def test_where_users_are_missing_the_next_step_is_to_find_out_why():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"user_id": range(500), "gender": rng.choice(["F", "M"], 500)})
    table = table.with_columns(q=pl.Series([None, 1.0, 2.0, 3.0, 4.0] * 100))
    result = fairrec.audit(
        values=table,
        by="gender",
        tables=fairrec.Tables(better="q=higher"),
        statistics=fairrec.Statistics(permutations=99),
    )
    found = answer_of(result)
    assert found.headline.startswith("Inconclusive: ")
    assert found.next_steps[0] == "find out who is missing, and why"


def test_more_findings_than_are_listed_are_not_said_to_be_all(monkeypatch):
    for module in ("fairrec.statistics.findings", "fairrec.report.verdict"):
        monkeypatch.setattr(f"{module}.MAX_FINDINGS", 50)
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
    assert found.headline.startswith(f"At least {n_worse} groups are served worse")
    assert found.who[0] == f"at least {n_worse} groups worse"
    (said,) = build_view(result.summary).verdicts
    # cities do not overlap
    assert "or are beyond the 50 findings listed" in said.headline


def test_a_search_of_a_table_with_every_score_is_told_how_to_get_the_exact_answer():
    result = planted_result(search=Search("adaptive", budget_users="30%"))
    exact = "the table has every score: leave out --search and its budget for the exact answer"
    found = answer_of(result)
    assert found.next_steps[0] == exact
    assert not any("raise budget_users" in step for step in found.next_steps)
    assert "The table has every score: " in " ".join(build_view(result.summary).search)
    # a model that is asked may be asked for more
    search = result.summary.search.model_copy(update={"has_table": False})
    asked = result.summary.model_copy(update={"search": search})
    assert exact not in overview(asked, build_view(asked).verdicts).next_steps
    # nothing is left to be scored
    everyone = planted_result(search=Search("exact"))
    assert exact not in answer_of(everyone).next_steps


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
    assert found.detail.endswith(
        "they would not stand out without gender=M, tier=paid, served better than they are"
    )
