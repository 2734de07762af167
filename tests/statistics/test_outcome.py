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
    three = [("inconclusive", True), ("worse", False), ("within tolerance", True)]
    assert outcome_of_all(three) == "worse"
    assert outcome_of_all([("within tolerance", True), ("inconclusive", False)]) == "inconclusive"
    assert outcome_of_all([]) == "inconclusive"


@pytest.mark.parametrize("differs", ["differs beyond tolerance", "differs", "inconclusive"])
def test_a_metric_without_a_better_end_decides_only_where_there_is_no_other(differs):
    neutral = (differs, None)
    assert outcome_of_all([neutral, ("within tolerance", True)]) == "within tolerance"
    assert outcome_of_all([neutral, ("within tolerance", None)]) == differs


@pytest.mark.parametrize(
    ("higher_is_better", "names"),
    [
        (True, ["worse beyond tolerance", "worse", "inconclusive", "within tolerance"]),
        (None, ["differs beyond tolerance", "differs", "inconclusive", "within tolerance"]),
    ],
)
def test_positions_name_the_outcomes(higher_is_better, names):
    assert [outcome_names(higher_is_better)[at] for at in (BEYOND, WORSE, OPEN, WITHIN)] == names
    assert [position_of(name) for name in names] == [
        BEYOND,
        WORSE,
        OPEN,
        WITHIN,
    ]
