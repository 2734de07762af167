"""What a metric says."""

from __future__ import annotations

import fairrec
from fairrec.report.text.verdict import status_of
from fairrec.report.text.view import build_view
from tests.report.text.planted_report import planted_result
from tests.worlds import random_world


def test_the_verdict_comes_first_and_names_the_planted_group():
    view = build_view(planted_result().summary)
    assert view.verdicts[0].status == "gap found"
    assert "gender=F, age=65+" in view.verdicts[0].headline
    assert "Served worst" in view.verdicts[0].headline


def test_without_a_gap_the_view_says_what_could_have_been_found():
    users, predictions = random_world(400, seed=1)
    result = fairrec.audit(predictions, users=users, by="gender", metrics="auc", permutations=99)
    verdict = build_view(result.summary).verdicts[0]
    assert verdict.status == "no gap detected"
    assert "would be found 4 times in 5" in verdict.power


def test_without_permutations_nothing_is_called_a_gap():
    result = planted_result().summary.model_copy(update={"permutations": 0})
    untested = result.metrics["auc"].model_copy(
        update={"chance": None, "findings": (), "detectable": (), "is_tested": False}
    )
    assert status_of(untested) == "not tested"
