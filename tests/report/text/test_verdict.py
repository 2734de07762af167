"""What a metric says."""

from __future__ import annotations

import polars as pl

import fairrec
from fairrec.report.text.verdict import verdict_of
from fairrec.report.text.view import build_view
from fairrec.report.words import number
from tests.builders import one_each
from tests.report.text.planted_report import planted_result, standing
from tests.worlds import random_world


def test_the_verdict_comes_first_and_names_the_planted_group():
    view = build_view(planted_result().summary)
    assert view.verdicts[0].status == "worse"
    assert "gender=F, age=65+" in view.verdicts[0].headline
    assert "Served worst" in view.verdicts[0].headline


def test_where_nothing_is_found_the_view_says_what_is_not_ruled_out():
    users, predictions = random_world(400, seed=1)
    result = fairrec.audit(predictions, users=users, by="gender", metrics="auc", permutations=99)
    verdict = build_view(result.summary).verdicts[0]
    assert verdict.status == "inconclusive"
    assert verdict.headline.startswith("None of 2 groups of at least 10 users is shown to be worse")
    largest = result.metrics["auc"].verdict.certificate[0]
    assert verdict.ruled_out == (
        f"None of the 2 groups tested (at least {largest.support} users) is worse by more than "
        f"{number(largest.harm)} ({number(largest.harm / result.metrics['auc'].sd)} standard "
        "deviations), at 95% for all at once."
    )
    assert "would be shown 4 times in 5" in verdict.power


def test_with_an_amount_that_matters_a_verdict_names_its_scope():
    users, predictions = random_world(400, seed=1)
    given = {"users": users, "by": "gender", "metrics": "auc", "permutations": 99}
    large = fairrec.audit(predictions, **given, tolerance="auc=0.5")
    (verdict,) = build_view(large.summary).verdicts
    assert (verdict.status, verdict.tone) == ("not worse by more than matters", "clear")
    assert verdict.ruled_out.startswith("Not worse by more than 0.500: 2 groups; none is open.")
    small = fairrec.audit(predictions, **given, tolerance=0.001)
    (verdict,) = build_view(small.summary).verdicts
    assert (verdict.status, verdict.tone) == ("inconclusive", "open")
    assert verdict.ruled_out.startswith("Not worse by more than 0.00100: shown for no group; open")


def test_whether_a_harm_matters_is_said_of_the_worst_group():
    found = planted_result().metrics["auc"]
    summary = planted_result().summary
    for amount, outcome, status in (
        (0.001, "worse by more", "worse by more than matters"),
        (0.9, "worse", "worse, may be less than matters"),
    ):
        verdict = found.verdict.model_copy(update={"tolerance": amount, "outcome": outcome})
        findings = tuple(
            finding.model_copy(update={"outcome": outcome}) for finding in found.findings
        )
        changed = found.model_copy(update={"verdict": verdict, "findings": findings})
        said = verdict_of("auc", changed, summary)
        assert (said.status, said.tone) == (status, "found")
        assert f"by more than {number(amount)}, which matters" in said.headline
        assert ("is not shown" in said.headline) == (outcome == "worse")


def test_where_neither_end_is_better_groups_differ():
    auc = planted_result().metrics["auc"]
    verdict = auc.verdict.model_copy(update={"outcome": "differs"})
    found = auc.model_copy(update={"higher_is_better": None, "verdict": verdict})
    said = verdict_of("auc", found, planted_result().summary)
    assert said.status == "differs"
    assert "differ" in said.headline and "worse" not in said.headline


def test_a_group_served_better_is_no_harm():
    summary = planted_result().summary
    found = summary.metrics["auc"].model_copy(update={"higher_is_better": False})
    verdict = found.verdict.model_copy(update={"outcome": "inconclusive"})
    said = verdict_of("auc", found.model_copy(update={"verdict": verdict}), summary)
    assert said.status == "inconclusive"
    assert "is shown to be worse" in said.headline and "served better: " in said.headline


def test_groups_that_only_vary_more_are_named_as_such():
    summary = planted_result().summary
    end = summary.metrics["auc"].advantaged
    found = summary.metrics["auc"].model_copy(update={"varying": (end,) * 5})
    said = verdict_of("auc", found, summary).ruled_out
    assert "varying more than others, so not shown to be worse or better: " in said
    assert said.endswith("and 2 more.")


def test_only_what_is_open_for_want_of_users_speaks_of_power():
    users, predictions = random_world(200, seed=1)
    summary = fairrec.audit(
        predictions, users=users, by="gender", metrics="auc", permutations=39
    ).summary
    for changes in ({"is_constant": True}, {"is_conclusive": False}, {"is_tested": False}):
        assert verdict_of("auc", standing(**changes), summary).power == ""
    assert verdict_of("auc", standing(), summary).power


def test_the_same_for_everyone_says_for_whom():
    users = pl.DataFrame({"user_id": range(8), "group": [*"xy"] * 4})
    for is_missing, who in ((0, "everyone"), (1, "everyone for whom it is defined")):
        predictions = one_each({user: None if user < is_missing else 2 for user in range(8)})
        result = fairrec.audit(
            predictions,
            users=users,
            by="group",
            metrics="mrr",
            permutations=39,
            max_undefined=0.5,
            min_support=1,
        )
        (verdict,) = build_view(result.summary).verdicts
        assert verdict.status == "same for everyone"
        assert verdict.headline == f"It is 0.500 for {who}, so groups cannot differ in it."
        assert verdict.gap == ""


def test_one_group_of_all_users_is_no_all_clear():
    users, predictions = random_world(60, seed=2)
    alike = users.with_columns(world=pl.lit("one"))
    result = fairrec.audit(predictions, users=alike, by="world", metrics="auc", permutations=99)
    (verdict,) = build_view(result.summary).verdicts
    assert verdict.status == "not tested"
    assert verdict.headline == "All users are in one group, so there is nothing to compare it with."


def test_a_finding_says_who_is_left_out_where_that_may_change_the_picture():
    # the old have no relevant candidate at all, the young one at place 1 or 3 by gender
    users = pl.DataFrame(
        {
            "user_id": range(400),
            "gender": [*"FM"] * 200,
            "age": [*"yyyo"] * 100,
        }
    )
    places = {
        user: None if age == "o" else 1 if gender == "F" else 3
        for user, gender, age in users.iter_rows()
    }
    result = fairrec.audit(
        one_each(places), users=users, by="gender,age", metrics="mrr", permutations=99
    )
    (verdict,) = build_view(result.summary).verdicts
    assert verdict.status == "worse"
    assert verdict.remedy.startswith("Who is missing may change the picture: 25% of users have no")
    assert "give the held-out interactions (test=...)" in verdict.remedy


def test_perfect_lists_are_asked_whether_they_were_joined():
    users = pl.DataFrame({"user_id": range(40), "gender": [*"FM"] * 20})
    given = {"users": users, "by": "gender", "metrics": "hit@10", "permutations": 99}
    joined = fairrec.audit(one_each(dict.fromkeys(range(40), 2)), **given)
    (verdict,) = build_view(joined.summary).verdicts
    assert verdict.status == "same for everyone"
    assert verdict.remedy.startswith("If these are recommendations that were joined")
    recs = pl.DataFrame({"user_id": range(40), "item_id": 1, "rank": 1})
    both = fairrec.audit(recs, test=recs.drop("rank"), **given)
    (verdict,) = build_view(both.summary).verdicts
    assert (verdict.status, verdict.remedy) == ("same for everyone", "")


def test_the_same_lists_twice_are_not_asked_whether_they_were_joined():
    lists = pl.DataFrame({"user_id": range(40), "item_id": [[1, 2]] * 40, "rank": [[1, 2]] * 40})
    users = pl.DataFrame({"user_id": range(40), "group": ["a", "b"] * 20})
    found = fairrec.audit(lists, users=users, by="group", against_lists=lists, metrics="rbo@3")
    (verdict,) = build_view(found.summary).verdicts
    assert verdict.status == "same for everyone" and verdict.remedy == ""
