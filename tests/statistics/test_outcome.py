from __future__ import annotations

import pytest

from fairrec.statistics.verdict import (
    BEYOND,
    OPEN,
    WITHIN,
    WORSE,
    outcome_names,
    outcome_of_all,
    position_of,
)


def test_the_audit_has_the_outcome_that_matters_most():
    three = [("inconclusive", True), ("worse", False), ("not worse by more", True)]
    assert outcome_of_all(three) == "worse"
    assert outcome_of_all([("not worse by more", True), ("inconclusive", False)]) == "inconclusive"
    assert outcome_of_all([]) == "inconclusive"


@pytest.mark.parametrize("differs", ["differs by more", "differs", "inconclusive"])
def test_a_metric_without_a_better_end_decides_only_where_there_is_no_other(differs):
    neutral = (differs, None)
    assert outcome_of_all([neutral, ("not worse by more", True)]) == "not worse by more"
    assert outcome_of_all([neutral, ("differs by no more", None)]) == differs


@pytest.mark.parametrize(
    ("higher_is_better", "names"),
    [
        (True, ["worse by more", "worse", "inconclusive", "not worse by more"]),
        (None, ["differs by more", "differs", "inconclusive", "differs by no more"]),
    ],
)
def test_positions_name_the_outcomes(higher_is_better, names):
    assert [outcome_names(higher_is_better)[at] for at in (BEYOND, WORSE, OPEN, WITHIN)] == names
    assert [position_of(name) for name in names] == [BEYOND, WORSE, OPEN, WITHIN]
