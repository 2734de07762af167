from __future__ import annotations

import numpy as np
from pytest import approx

from fairrec.statistics.intervals import kept_shares


def worlds(rng, effects, error):
    return effects + rng.normal(size=len(effects)) * error


def test_where_nothing_differs_hardly_anything_is_kept():
    left = []
    for seed in range(50):
        observed = worlds(np.random.default_rng(seed), np.zeros(500), 0.1)
        kept = kept_shares(observed, np.full(500, 0.1))
        left.append(np.abs(kept * observed).max() / np.abs(observed).max())
    assert np.mean(left) < 0.1


def test_a_single_group_that_stands_out_keeps_its_difference():
    rng = np.random.default_rng(1)
    effects = np.zeros(500)
    effects[7] = -1.0
    kept = kept_shares(worlds(rng, effects, 0.1), np.full(500, 0.1))
    assert kept[7] > 0.95
    assert np.median(kept) < 0.1


def test_where_all_differ_alike_it_is_the_normal_one():
    rng = np.random.default_rng(2)
    error = rng.uniform(0.05, 0.2, 3000)
    observed = worlds(rng, rng.normal(0, 0.1, 3000), error)
    kept = kept_shares(observed, error)
    expected = 0.01 / (0.01 + error**2)
    assert np.abs(kept - expected).mean() < 0.03
    assert (kept * observed).std() < observed.std()


def test_what_was_picked_out_is_no_longer_too_large():
    rng = np.random.default_rng(3)
    chosen, true = [], []
    for _ in range(200):
        effects = rng.normal(0, 0.1, 200)
        observed = worlds(rng, effects, 0.1)
        first = np.argmax(np.abs(observed))
        chosen.append(observed[first] * kept_shares(observed, np.full(200, 0.1))[first])
        true.append(effects[first])
    assert np.abs(chosen).mean() / np.abs(true).mean() == approx(1, abs=0.2)


def test_what_is_not_known_is_not_kept():
    kept = kept_shares(np.array([np.nan, 1.0, 1.0]), np.array([0.1, 0.0, np.nan]))
    assert kept.tolist() == [0, 0, 0]
    assert (kept_shares(np.array([0.0, 0.0]), np.array([0.1, 0.1])) <= 1).all()
