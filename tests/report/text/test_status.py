"""What is known about groups, in a few words."""

from __future__ import annotations

import pytest

from fairrec.core.units import USERS
from fairrec.report.text.verdict import outcome_words, status_of
from tests.report.text.planted_report import planted_result, standing


def test_without_permutations_nothing_is_called_a_gap():
    result = planted_result().summary.model_copy(update={"permutations": 0})
    untested = result.metrics["auc"].model_copy(
        update={"chance": None, "findings": (), "detectable": (), "is_tested": False}
    )
    assert status_of(untested) == "not tested"


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
    assert status_of(result) == status


def test_one_group_has_the_words_of_its_outcome():
    summary = planted_result().summary
    auc = summary.metrics["auc"]
    finding = auc.findings[0]
    assert outcome_words(finding, auc, USERS.end_words, summary) == "worse"
    tolerance = auc.model_copy(
        update={"verdict": auc.verdict.model_copy(update={"tolerance": 0.1})}
    )
    assert (
        outcome_words(finding, tolerance, USERS.end_words, summary)
        == "worse, may be less than matters"
    )
    differs = finding.model_copy(update={"outcome": "differs"})
    assert (
        outcome_words(
            differs, auc.model_copy(update={"higher_is_better": None}), USERS.end_words, summary
        )
        == "differs"
    )
    assert outcome_words(
        finding, auc.model_copy(update={"higher_is_better": False}), USERS.end_words, summary
    ) == ("served better")
    assert (
        outcome_words(finding.model_copy(update={"outcome": None}), auc, USERS.end_words, summary)
        == ""
    )
