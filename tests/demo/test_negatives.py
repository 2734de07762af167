from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.demo.held_out import NegativeSampler


@given(st.integers(0, 2**32), st.integers(1, 8))
def test_drawn_items_are_different_and_unknown_to_the_user(seed, n):
    rng = np.random.default_rng(seed)
    known = rng.random((12, 30)) < rng.random((12, 1)) * 0.7
    known[0] = False
    known[1, : 30 - n] = True
    known[1, 30 - n :] = False
    users, items = np.nonzero(known)
    sampler = NegativeSampler(users, items, 12, 30)
    enough = np.flatnonzero((~known).sum(axis=1) >= n)
    drawn = sampler.draw_lists(np.repeat(enough, 5), n, rng)
    for user, row in zip(np.repeat(enough, 5), drawn, strict=True):
        assert len(set(row.tolist())) == n
        assert not known[user, row].any()


def test_every_unknown_item_is_drawn_equally_often():
    users, items = np.zeros(5, dtype=int), np.array([0, 2, 4, 6, 8])
    sampler = NegativeSampler(users, items, 1, 60)
    drawn = sampler.draw(np.zeros(55_000, dtype=int), np.random.default_rng(0))
    counts = np.bincount(drawn, minlength=60)
    assert (counts[items] == 0).all()
    free = np.delete(counts, items)
    # 1,000 expected; six standard deviations
    assert np.abs(free - 1000).max() < 6 * np.sqrt(1000)


def test_a_user_who_knows_nearly_everything_is_a_clear_error():
    sampler = NegativeSampler(np.zeros(9, dtype=int), np.arange(9), 1, 10)
    with pytest.raises(InputError, match="all but 1 of 10 items"):
        sampler.draw_lists(np.array([0]), 2, np.random.default_rng(0))
