from __future__ import annotations

import numpy as np
import pytest

from fairrec.core.errors import InputError
from fairrec.counts.levels import notes_on_levels
from fairrec.metrics.measured import Alike, Measured
from fairrec.metrics.parsing import parse_metric


def on_two_levels(distance: float, squares: float) -> Measured:
    """A hundred users on each of two levels, whose values are spread around the level's mean."""
    values = np.array([[0.5, 0.5 + distance]])
    alike = Alike(np.full((1, 2), 100.0), np.full((1, 2), squares), np.array([[0, 1]]))
    everyone = np.ones(2, dtype=bool)
    return Measured((parse_metric("auc"),), values, everyone, everyone, alike)


def test_levels_that_tell_nearly_everything_are_not_spoken_of():
    # standard deviation .1 between levels, and .02 around them
    assert notes_on_levels(on_two_levels(0.2, 100 * 0.02**2), "here") == []
    assert notes_on_levels(on_two_levels(0.0, 0.0), "here") == []


def test_levels_that_hide_some_of_the_spread_are_told():
    # .1 between levels and .1 around them: 1 of sqrt(2) is left
    (note,) = notes_on_levels(on_two_levels(0.2, 100 * 0.1**2), "here")
    assert "'auc'" in note
    assert "71%" in note


def test_levels_that_hide_most_of_it_are_refused_since_nothing_would_be_found():
    with pytest.raises(InputError, match=r"here: users on one level differ in 'auc'.*keep 10%"):
        notes_on_levels(on_two_levels(0.02, 100 * 0.1**2), "here")


def test_users_who_are_alone_in_their_row_may_differ_on_a_level():
    values = np.array([[0.1, 0.9, 0.2, 0.8]])
    alike = Alike(np.ones((1, 4)), np.zeros((1, 4)), np.array([[0, 0, 1, 1]]))
    everyone = np.ones(4, dtype=bool)
    measured = Measured((parse_metric("auc"),), values, everyone, everyone, alike)
    assert measured.on_levels.values.tolist() == [[0.5, 0.5, 0.5, 0.5]]
    with pytest.raises(InputError, match="keep 0%"):
        notes_on_levels(measured, "here")
