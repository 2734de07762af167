from __future__ import annotations

import numpy as np
import pytest
from pytest import approx
from scipy import stats

from fairrec.search.searchers.findings_goal import FindingsGoal
from tests.search.search_worlds import evidence_of, space_of, task_for
from tests.search.searchers.adaptive.adaptive_worlds import adapt


def planted_world(seed, difference):
    """4,000 users; those with two given values of three attributes, about 1.5%, differ."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, n, 4_000) for n in (5, 14, 4)]
    space = space_of(codes, (5, 14, 4), min_users=10, depth=2)
    is_planted = (codes[0] == 3) & (codes[1] == 6)
    return space, difference * is_planted + rng.normal(size=4_000), is_planted


@pytest.mark.parametrize("difference", [-1.5, 1.5])
def test_planted_group_is_completed_within_a_quarter_of_the_users(difference):
    n_complete = 0
    for seed in range(5):
        space, values, is_planted = planted_world(seed, difference)
        assert is_planted.mean() == approx(0.015, abs=0.006)
        outcome = adapt(space, values, seed, users=1_000, n_reference=200, steps=8)
        n_complete += outcome.evidence.is_scored[is_planted].all()
    assert n_complete >= 4


def test_without_a_share_for_findings_they_are_not_sought():
    n_complete = 0
    for seed in range(3):
        space, values, is_planted = planted_world(seed, -1.5)
        outcome = adapt(space, values, seed, users=1_000, n_reference=200, findings=0)
        n_complete += outcome.evidence.is_scored[is_planted].all()
        # only full combinations, apart from the reference sample
        touched = np.flatnonzero(
            np.bincount(
                space.cells.of_user,
                weights=outcome.evidence.is_scored & ~outcome.evidence.is_reference,
                minlength=len(space.cells),
            )
        )
        assert set(touched.tolist()) <= set(space.cell_of_full.tolist())
    assert n_complete <= 1


def test_critical_statistic_follows_the_significance_level():
    space, values, _ = planted_world(0, -1.0)
    evidence = evidence_of(space, values)
    for alpha in (0.001, 0.05, 0.5):
        critical = FindingsGoal(task_for(evidence, alpha=alpha))._critical
        # two-sided, shared by all groups
        assert 2 * stats.norm.sf(critical) * len(space.lattice) == approx(alpha)


def test_a_stricter_level_gives_up_groups_that_can_no_longer_be_findings():
    n_scored = []
    for alpha in (1e-9, 0.2):
        found = 0
        for seed in range(3):
            space, values, _ = planted_world(seed, -0.6)
            outcome = adapt(space, values, seed, n_reference=400, tolerance=10, alpha=alpha)
            assert outcome.ending == "finished"
            found += outcome.evidence.users_scored
        n_scored.append(found)
    assert n_scored[0] < 0.9 * n_scored[1]
