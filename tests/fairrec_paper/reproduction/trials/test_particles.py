from __future__ import annotations

import numpy as np
import pytest

from fairrec_paper.reproduction.methods import WAYS, first_positions, particle_trial, space_of
from tests.fairrec_paper.reproduction.trial_rows import silent


@pytest.mark.parametrize("way", WAYS)
def test_shares_are_those_of_a_plain_count(way, source):
    space, values = space_of(source)
    assert [len(names) for names in values] == [2, 3, 3]
    positions = first_positions(space, way, seed=3)
    (row,) = particle_trial(source, way, 3).work(silent)
    users = [tuple(codes) for codes in space.cells.codes[:, space.cells.of_user].T.tolist()]
    counts = [users.count(tuple(position)) for position in positions.tolist()]
    assert row["n_particles"] == len(positions)
    assert row["on_users"] == pytest.approx(np.mean([n > 0 for n in counts]))
    assert row["on_groups"] == pytest.approx(np.mean([n >= space.min_users for n in counts]))
    assert row["n_combinations"] == 18


def test_a_seed_gives_the_same_particles_again(source):
    space, _ = space_of(source)
    for way in WAYS:
        first = first_positions(space, way, 0)
        np.testing.assert_array_equal(first, first_positions(space, way, 0))
        assert not np.array_equal(first, first_positions(space, way, 1))
