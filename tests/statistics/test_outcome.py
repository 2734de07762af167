from __future__ import annotations

from fairrec.statistics.outcome import (
    BY_MORE,
    OPEN,
    OUTCOMES,
    RULED_OUT,
    WORSE,
    outcome_of_all,
)


def test_the_audit_has_the_outcome_that_matters_most():
    assert outcome_of_all(["inconclusive", "worse", "not worse by more"]) == "worse"
    assert outcome_of_all(["not worse by more", "inconclusive"]) == "inconclusive"
    assert outcome_of_all([]) == "inconclusive"


def test_positions_name_the_outcomes():
    named = {at: OUTCOMES[at] for at in (BY_MORE, WORSE, OPEN, RULED_OUT)}
    assert [*named.values()] == ["worse by more", "worse", "inconclusive", "not worse by more"]
