"""What a mitigation says of changes holds over many worlds: a fast part of the benchmark."""

from __future__ import annotations

import pytest
from benchmarks.statistics.studies import STUDIES

from tests.worlds import over_worlds

FAST = {
    "changes of 0 on average, 95% gain, 5% lose, all users changed",
    "changes of 0 on average, lognormal, 20% in whole intersections changed",
    "changes of 0 on average, normal, all users changed",
    "a fifth of intersections gain 1 sd, lognormal",
    "a change of 0.3 sd in 200 changed users, normal, all users changed",
    "200 of 5,000 users changed, by 0 on average, 95% gain, 5% lose",
    "no distance, half the spread, 15 groups of 16",
    "0.3 sd away, moved as far beyond, 5 groups of 60",
    "0.3 sd away, moved half the way, 15 groups of 16",
    "one of 20 groups 5 standard errors behind, normal, re-ranked",
    "one of 20 groups 5 standard errors behind, exponential, re-ranked to no effect",
}


@over_worlds(60)
@pytest.mark.parametrize("world", sorted(FAST))
def test_a_claim_about_changes_holds_over_many_worlds(world, n_worlds):
    (study,) = (study for study in STUDIES if study.world == world)
    rates = study.rates(n_worlds)
    assert [f"{rate.claim.what}: {rate}" for rate in rates if rate.is_met is not True] == []
