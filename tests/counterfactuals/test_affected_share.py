"""The share of users who are affected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from fairrec.counterfactuals.affected_share import Sampling

ALPHA = 0.05


@pytest.mark.parametrize(("hits", "n"), [(0, 50), (3, 50), (50, 50), (400, 1000)])
def test_all_at_once_each_end_is_where_the_tail_is_half_of_alpha(hits, n):
    found = Sampling(n, ALPHA).share(n, hits)
    assert (found.n, found.n_affected, found.share) == (n, hits, hits / n)
    if hits:
        assert binom.sf(hits - 1, n, found.low) == pytest.approx(ALPHA / 2)
    if hits < n:
        assert binom.cdf(hits, n, found.high) == pytest.approx(ALPHA / 2)
    assert found.low >= 0 and found.high <= 1


def outcomes(sampling: Sampling, p: float) -> dict[tuple[int, int], float]:
    """How likely each end of sampling is: one user after the other, by hand."""
    ended: dict[tuple[int, int], float] = {}
    going = {0: 1.0}
    for n in range(1, sampling.n_users + 1):
        after: dict[int, float] = {}
        for hits, chance in going.items():
            after[hits] = after.get(hits, 0) + chance * (1 - p)
            after[hits + 1] = after.get(hits + 1, 0) + chance * p
        if n in sampling.looks:
            for hits in [hits for hits in after if sampling.is_enough(n, hits)]:
                ended[n, hits] = after.pop(hits)
        going = after
    return ended


def test_after_several_looks_each_end_is_where_the_tail_is_half_of_alpha():
    sampling = Sampling(130, ALPHA, margin=0.08)
    assert sampling.looks == (50, 75, 112, 130)
    for n, hits in [(50, 1), (75, 4), (112, 100), (130, 60)]:
        assert sampling.is_enough(n, hits)
        found = sampling.share(n, hits)
        high = outcomes(sampling, found.high)
        at_most = [high[one] for one in high if one[1] / one[0] <= hits / n]
        assert sum(at_most) == pytest.approx(ALPHA / 2, rel=1e-4)
        low = outcomes(sampling, found.low)
        at_least = [low[one] for one in low if one[1] / one[0] >= hits / n]
        assert sum(at_least) == pytest.approx(ALPHA / 2, rel=1e-4)


@pytest.mark.parametrize(
    ("n_users", "margin"),
    [
        (100, 0.09),
        pytest.param(130, 0.08, marks=pytest.mark.slow),
        pytest.param(400, 0.05, marks=pytest.mark.slow),
        pytest.param(300, 0.1, marks=pytest.mark.slow),
    ],
)
def test_under_no_share_is_an_end_on_the_wrong_side_more_often_than_half_of_alpha(n_users, margin):
    sampling = Sampling(n_users, ALPHA, margin)
    every = {end: sampling.share(*end) for end in outcomes(sampling, 0.5)}
    for p in np.linspace(0.003, 0.5, 60):
        chances = outcomes(sampling, p)
        assert sum(chances[end] for end, one in every.items() if one.high < p) <= ALPHA / 2 + 1e-6
        assert sum(chances[end] for end, one in every.items() if one.low > p) <= ALPHA / 2 + 1e-6


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("margin", [0.03, 0.1])
@pytest.mark.parametrize("n_users", [200, 1500])
def test_where_sampling_ends_early_the_margin_is_kept(n_users, margin, alpha):
    sampling = Sampling(n_users, alpha, margin)
    for n, most in sampling._ends():
        found = sampling.share(n, most)
        assert n == n_users or (found.high - found.low) / 2 <= margin


def test_looks_are_further_and_further_apart_and_take_everyone():
    assert Sampling(500, ALPHA, 0.01).looks == (50, 75, 112, 168, 252, 378, 500)
    assert Sampling(500, ALPHA).looks == (500,)
    assert Sampling(20, ALPHA, 0.01).looks == (20,)
    assert Sampling(20, ALPHA, 0.01).is_enough(20, 10)
    assert not Sampling(500, ALPHA, 0.01).is_enough(50, 0)


def expected_users(sampling: Sampling, p: float) -> float:
    """Users who are asked about on average until the share is known."""
    expected, going, before = 0.0, np.ones(1), 0
    for n in sampling.looks:
        going = np.convolve(going, binom.pmf(np.arange(n - before + 1), n - before, p))
        is_end = np.array([sampling.is_enough(n, hits) for hits in range(n + 1)])
        expected += n * going[is_end].sum()
        going, before = np.where(is_end, 0.0, going), n
    return expected


@pytest.mark.parametrize(("margin", "users"), [(0.05, (50, 187, 567)), (0.02, (112, 1177, 2868))])
def test_a_margin_takes_as_many_users_as_the_page_says(margin, users):
    sampling = Sampling(20_000, ALPHA, margin)
    assert tuple(round(expected_users(sampling, p)) for p in (0, 0.1, 0.5)) == users
