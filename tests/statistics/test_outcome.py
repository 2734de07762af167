from __future__ import annotations

import pytest

from fairrec.statistics.verdict import (
    BEYOND,
    OPEN,
    WITHIN,
    WORSE,
    outcome_names,
    outcome_position,
    worst_outcome,
)


def test_the_audit_has_the_outcome_that_matters_most():
    three = [("inconclusive", True), ("worse", False), ("within tolerance", True)]
    assert worst_outcome(three) == "worse"
    assert worst_outcome([("within tolerance", True), ("inconclusive", False)]) == "inconclusive"
    assert worst_outcome([]) == "inconclusive"


@pytest.mark.parametrize("differs", ["differs beyond tolerance", "differs", "inconclusive"])
def test_a_metric_without_a_better_end_decides_only_where_there_is_no_other(differs):
    neutral = (differs, None)
    assert worst_outcome([neutral, ("within tolerance", True)]) == "within tolerance"
    assert worst_outcome([neutral, ("within tolerance", None)]) == differs


@pytest.mark.parametrize(
    ("higher_is_better", "names"),
    [
        (True, ["worse beyond tolerance", "worse", "inconclusive", "within tolerance"]),
        (None, ["differs beyond tolerance", "differs", "inconclusive", "within tolerance"]),
    ],
)
def test_positions_name_the_outcomes(higher_is_better, names):
    assert [outcome_names(higher_is_better)[at] for at in (BEYOND, WORSE, OPEN, WITHIN)] == names
    assert [outcome_position(name) for name in names] == [
        BEYOND,
        WORSE,
        OPEN,
        WITHIN,
    ]
