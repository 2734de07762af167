"""What a metric says."""

from __future__ import annotations

import polars as pl
import pytest

import fairrec
from fairrec.report.verdict import build_status, build_verdict
from fairrec.report.view import build_view
from fairrec.report.words import rounded_up
from tests.builders import one_each
from tests.grouped_options import group_options
from tests.report.planted import planted, standing
from tests.worlds import random_world


def test_where_nothing_is_found_the_view_says_what_is_not_ruled_out():
    users, predictions = random_world(400, seed=1)
    result = fairrec.audit(
        predictions,
        users=users,
        by="gender",
        metrics="auc",
        statistics=fairrec.Statistics(permutations=99),
    )
    verdict = build_view(result.summary).verdicts[0]
    assert verdict.status == "inconclusive"
    assert verdict.headline == (
        "No group is significantly worse (2 tested, at least 10 users each)."
    )
    largest = result.metrics["auc"].verdict.certificate[0]
    assert f": {rounded_up(largest.harm)} for {largest.support}+ users" in verdict.ruled_out
    assert any(one.startswith("80% power to detect a harm of ") for one in verdict.details)


def test_with_an_amount_that_matters_a_verdict_names_its_scope():
    users, predictions = random_world(400, seed=1)
    given = {"users": users, "by": "gender", "metrics": "auc", "permutations": 99}
    large = fairrec.audit(predictions, **group_options(**given, tolerance="auc=0.5"))
    (verdict,) = build_view(large.summary).verdicts
    assert (verdict.status, verdict.tone) == ("within tolerance", "clear")
    assert verdict.ruled_out.startswith(
        "Tolerance of 0.500: 0 groups beyond it, 2 within it, 0 open"
    )
    small = fairrec.audit(predictions, **group_options(**given, tolerance=0.001))
    (verdict,) = build_view(small.summary).verdicts
    assert (verdict.status, verdict.tone) == ("inconclusive", "open")
    assert verdict.ruled_out.startswith(
        "Tolerance of 0.00100: 0 groups beyond it, 0 within it, 2 open"
    )


def test_a_group_served_better_is_no_harm():
    summary = planted().summary
    found = summary.metrics["auc"].model_copy(update={"higher_is_better": False})
    verdict = found.verdict.model_copy(update={"outcome": "inconclusive"})
    said = build_verdict("auc", found.model_copy(update={"verdict": verdict}), summary)
    assert said.status == "inconclusive"
    assert said.headline.startswith("No group is significantly worse (171 tested, ")
    assert "significantly better. Largest difference: gender=F, age=65+ (" in said.headline


def test_perfect_lists_are_asked_whether_they_were_joined():
    users = pl.DataFrame({"user_id": range(40), "gender": [*"FM"] * 20})
    given = {"users": users, "by": "gender", "metrics": "hit@10", "permutations": 99}
    lists = fairrec.audit(one_each(dict.fromkeys(range(40), 2)), **group_options(**given))
    (verdict,) = build_view(lists.summary).verdicts
    assert verdict.status == "same for everyone"
    joined = "If these are recommendations that were joined"
    assert any(one.startswith(joined) for one in verdict.details)
    recs = pl.DataFrame({"user_id": range(40), "item_id": 1, "rank": 1})
    both = fairrec.audit(recs, **group_options(test=recs.drop("rank"), **given))
    (verdict,) = build_view(both.summary).verdicts
    assert verdict.status == "same for everyone"
    assert not any(one.startswith(joined) for one in verdict.details)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, "inconclusive"),
        ({"is_constant": True}, "same for everyone"),
        ({"n_groups": 0}, "not tested"),
        ({"n_groups": 0, "is_constant": True}, "not tested"),
        ({"is_conclusive": False}, "inconclusive"),
        ({"is_conclusive": False, "is_constant": True}, "inconclusive"),
        ({"is_conclusive": False, "n_groups": 0}, "inconclusive"),
        ({"is_tested": False}, "not tested"),
        ({"is_tested": False, "is_conclusive": False}, "not tested"),
    ],
)
def test_what_is_said_first_is_what_matters_most(changes, status):
    result = standing(**changes)
    assert build_status(result) == status
