"""Tests that hold however often one looks: by hand, against slow definitions, and in worlds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.statistics import releases
from pytest import approx
from scipy.integrate import quad
from scipy.special import ndtri
from scipy.stats import multivariate_normal, norm

from fairrec.trends import e_process as anytime
from fairrec.trends.e_process import (
    LATER,
    PERSISTING,
    WIDTH,
    Detection,
    Evidence,
    evidence_of_change,
    evidence_of_harm,
    shares_of_level,
    standard_errors,
)
from fairrec.trends.release_overlap import shared_differences


def unknown_users(n: int) -> np.ndarray:
    """What releases have in common where their users are not known."""
    return np.full((n, n), np.nan)


def exchanged(n: int, at: int) -> np.ndarray:
    """All users are others from one look on."""
    is_late = np.arange(n) >= at
    return (is_late[:, None] == is_late).astype(float)


def slow_evidence(harm, error, correlation):
    """The definition: likelihoods of all differences to the first look, averaged by quadrature."""
    n = len(harm)
    covariance = correlation * np.outer(error, error)
    to_first = np.hstack([-np.ones((n - 1, 1)), np.eye(n - 1)])
    noise = multivariate_normal(cov=to_first @ covariance @ to_first.T)
    seen = to_first @ harm
    width = WIDTH * error[0]
    total = 1 / n
    for since in range(1, n):
        step = to_first @ (np.arange(n) >= since)

        def density(size, step=step):
            return 2 * norm.pdf(size, scale=width) * noise.pdf(seen - size * step)

        average, _ = quad(density, 0, 12 * width, points=[width], epsabs=0, epsrel=1e-9)
        total += average / noise.pdf(seen) / (since * (since + 1))
    return math.log(total)


@pytest.mark.parametrize("shared", [np.eye(4), exchanged(4, 2), 0.6 + 0.4 * np.eye(4)])
def test_evidence_of_a_growth_is_the_averaged_likelihood_ratio(shared):
    harm, error = np.array([0.1, -0.2, 0.9, 1.3]), np.array([0.3, 0.4, 0.35, 0.3])
    slow = min(
        slow_evidence(harm, error, (1 - share) * np.eye(4) + share * shared)
        for share in (0, *PERSISTING)
    )
    found = evidence_of_change(harm[None], error[None], shared)
    assert found.log[0, -1] == approx(slow, rel=1e-6)
    assert found.since[0, -1] == 2
    assert found.log[0, 0] == approx(0) and found.since[0, 0] == -1


def test_evidence_of_a_harm_by_hand():
    # one look: a normal density averaged over half a normal variable, over that at 0
    harm, error = 0.5, 0.2

    def density(size):
        return 2 * norm.pdf(size, scale=WIDTH * error) * norm.pdf(harm - size, scale=error)

    by_hand = quad(density, 0, 10)[0] / norm.pdf(harm, scale=error)
    found = evidence_of_harm(np.array([[harm]]), np.array([[error]]), np.eye(1))
    assert found.log[0, 0] == approx(math.log(by_hand))
    assert found.size[0, 0] == harm


def test_more_releases_of_the_same_users_hardly_tell_more_of_a_harm_than_one():
    harm, error = np.full((1, 30), 0.5), np.full((1, 30), 0.2)
    drawn_anew = evidence_of_harm(harm, error, np.eye(30)).log[0]
    same, unknown = (
        evidence_of_harm(harm, error, shared).log[0]
        for shared in (np.ones((30, 30)), unknown_users(30))
    )
    assert drawn_anew[-1] > 10 * drawn_anew[0]
    assert same[-1] < 1.2 * same[0]
    assert same == approx(unknown)


def test_a_growth_is_as_sure_of_the_same_users_as_of_others():
    harm = np.array([[0.0, 0.1, 0.0, 0.8, 0.9]])
    error = np.full((1, 5), 0.2)
    same, others = (
        evidence_of_change(harm, error, shared) for shared in (np.ones((5, 5)), np.eye(5))
    )
    assert same.log == approx(others.log)
    assert others.since[0, -1] == 3
    assert others.size[0, -1] == approx(0.85 - 0.1 / 3)


def test_users_who_are_exchanged_at_once_are_no_growth():
    """Their persistent tastes are noise that more releases do not average out."""
    n = 20
    harm, error = np.repeat([[0.0, 0.6]], n // 2, axis=1), np.full((1, n), 0.2)
    taken_for_anew = evidence_of_change(harm, error, np.eye(n)).log[0, -1]
    known = evidence_of_change(harm, error, exchanged(n, n // 2)).log[0, -1]
    unknown = evidence_of_change(harm, error, unknown_users(n)).log[0, -1]
    assert taken_for_anew > 15
    assert max(known, unknown) < 3


def test_each_line_is_judged_by_what_its_own_users_have_in_common():
    """A few lines whose users were exchanged do not hide among many whose users are the same."""
    n = 20
    harm, error = np.repeat([[0.0, 0.6]], n // 2, axis=1), np.full((1, n), 0.2)
    each = np.array([np.ones((n, n)), exchanged(n, n // 2), unknown_users(n)])
    found = evidence_of_change(np.repeat(harm, 3, axis=0), np.repeat(error, 3, axis=0), each)
    alone = [evidence_of_change(harm, error, shared) for shared in each]
    assert found.log == approx(np.vstack([one.log for one in alone]))
    assert (found.since == np.vstack([one.since for one in alone])).all()
    assert found.log[0, -1] > 15 and found.log[1:, -1].max() < 3
    # of a harm, users who are not known are taken to be the same
    harms = evidence_of_harm(np.ones((2, n)), np.ones((2, n)), each[[0, 2]])
    assert harms.log[0] == approx(harms.log[1])


def test_many_lines_are_worked_on_in_parts_with_the_same_result(monkeypatch):
    rng = np.random.default_rng(2)
    harm, error = rng.normal(size=(7, 5)), rng.uniform(0.5, 1, (7, 5))
    harm[2, 1] = harm[3, 0] = np.nan
    each = np.where(rng.random((7, 1, 1)) < 0.5, exchanged(5, 2), exchanged(5, 4))
    whole = evidence_of_change(harm, error, each)
    monkeypatch.setattr(anytime, "_MOST_NUMBERS", 50)
    assert evidence_of_change(harm, error, each).log == approx(whole.log)


def test_without_knowing_who_was_audited_a_large_growth_is_still_shown():
    harm, error = np.repeat([[0.0, 1.0]], 5, axis=1), np.full((1, 10), 0.05)
    found = evidence_of_change(harm, error, unknown_users(10))
    assert Detection.of(found, np.array([0.01]), 0.05).at[0] == 5
    assert found.since[0, -1] == 5 and found.size[0, -1] == 1.0
    # the p-value of this comparison with its share of the level, by hand
    p_value = norm.sf(1 / (0.05 * math.sqrt(2)))
    assert found.log[0, -1] == approx(math.log(1 / (p_value * 10 * 9 * 9)))


@pytest.mark.parametrize("shared", [np.eye(6), exchanged(6, 4), unknown_users(6)])
def test_a_gap_says_nothing_and_the_growth_begins_with_a_release_that_has_the_group(shared):
    harm = np.array([[0.0, np.nan, 0.0, np.nan, 2.0, 2.0]])
    error = np.full((1, 6), 0.1)
    found = evidence_of_change(harm, error, shared)
    assert found.since[0, -1] == 4
    assert found.log[0, 1] == approx(found.log[0, 0], abs=0.7)
    never = evidence_of_change(np.full((1, 6), np.nan), error, shared)
    assert (never.log <= 1e-12).all() and (never.since == -1).all()


def test_evidence_without_a_growth_is_one_on_average():
    """Of an e-process the mean is 1 after any number of looks, and 1/alpha is rarely reached."""
    rng = np.random.default_rng(5)
    harm = rng.normal(size=(40_000, 8)) + 3.0
    found = evidence_of_change(harm, np.ones_like(harm), np.eye(8))
    means = np.exp(found.log).mean(axis=0)
    assert means == approx(np.ones(8), abs=0.12)
    assert (found.log.max(axis=1) >= math.log(20)).mean() < 0.05
    # smaller errors than stated, as of the same users, make less of it
    quieter = evidence_of_change(harm * 0.7, np.ones_like(harm), np.eye(8))
    assert np.exp(quieter.log).mean() < 1


def test_errors_come_from_intervals_and_are_not_below_those_of_random_groups():
    far = float(ndtri(0.975))
    low, high = np.array([-far, -0.1, np.nan]), np.array([far, 0.1, 1.0])
    n, n_all = np.array([25.0, 25.0, 25.0]), np.full(3, 100.0)
    error = standard_errors(low, high, np.full(3, 0.05), n, n_all, np.full(3, 1.5))
    by_chance = 1.5 * math.sqrt(100 / (25 * 75))
    assert error[:2] == approx([1.0, by_chance])
    assert math.isnan(error[2])
    # without a spread among all users the interval is all there is; a group of everybody has none
    alone = standard_errors(low, high, np.full(3, 0.05), n_all, n_all, np.full(3, np.nan))
    assert alone[:2] == approx([1.0, 0.1 / far])


def test_the_level_is_shared_by_what_is_known_when_a_group_appears():
    is_known = np.ones((7, 3), dtype=bool)
    is_known[5, 0] = False
    is_known[6] = False
    shares = shares_of_level(is_known, np.array([0, 0, 1, 1, 1, 1, 1]))
    first = (1 - LATER) / 2
    assert shares == approx([first / 2, first / 2, *[first / 3] * 3, LATER / 2, 0.0])
    # whatever comes later, nobody's share changes and no more than the level is shared
    assert shares_of_level(is_known[:, :1], np.array([0, 0, 1, 1, 1, 1, 1]))[:5] == approx(
        shares[:5]
    )
    late = np.tri(50, dtype=bool)[::-1]
    assert shares_of_level(late, np.zeros(50, dtype=int)).sum() <= 1


def test_a_detection_stays_one():
    log = np.array([[0.0, 4.0, 1.0], [0.0, 2.9, 3.0]])
    found = Detection.of(Evidence(log, np.zeros((2, 3), int), log), np.array([0.5, 0.5]), 0.05)
    assert found.at.tolist() == [1, -1]
    assert found.strongest.tolist() == [1, 2]
    assert found.p_value == approx([2 * math.exp(-4), 2 * math.exp(-3)])


@pytest.mark.parametrize(
    ("shape", "who"),
    [
        ("rate 20%", "the same users"),
        pytest.param("normal", "the same users", marks=pytest.mark.slow),
        pytest.param("normal", "users drawn anew", marks=pytest.mark.slow),
        pytest.param("lognormal", "the same users", marks=pytest.mark.slow),
    ],
)
def test_fifty_releases_of_an_unchanging_model_are_called_worse_rarely(shape, who):
    """A few of the worlds of the benchmark `statistics`, which has 400 of each kind."""
    found = [
        releases.unchanging(seed, releases.SHAPES[shape], releases.WHO[who], knows=True)
        for seed in range(8)
    ]
    for what in (releases.GREW, releases.WORSE):
        # two of eight happen in one of twenty such tests at most where the rate is 5%
        assert sum(one[what][0] for one in found) <= 1, what


def test_a_group_that_gets_worse_is_named_with_its_release_within_three():
    for seed, who in enumerate(("the same users", "users drawn anew")):
        found = releases.one_drop(seed, releases.WHO[who])
        assert 10 <= found["said"] <= 12
        assert found["since"] == approx(10, abs=1)
        assert found["lines"] > 100


def slow(users, groups, group):
    """The definition: the correlation of weights that make a group's difference of users."""
    n_all = 1 + max(one.max(initial=0) for one in users)
    weights = np.zeros((len(users), n_all))
    for look, (numbers, its) in enumerate(zip(users, groups, strict=True)):
        is_in = its == group
        if is_in.any() and not is_in.all():
            weights[look, numbers] = np.where(is_in, 1 / is_in.sum(), -1 / (~is_in).sum())
    products = weights @ weights.T
    length = np.sqrt(np.diag(products))
    with np.errstate(invalid="ignore"):
        shared = np.nan_to_num(products / np.outer(length, length))
    np.fill_diagonal(shared, 1.0)
    return shared


def test_what_differences_share_is_the_correlation_of_their_weights():
    rng = np.random.default_rng(0)
    users = [np.sort(rng.choice(60, n, replace=False)) for n in (40, 30, 55)]
    users = [*users, users[1], np.arange(60, 80), np.arange(0)]
    groups = [rng.integers(-1, 4, len(one)) for one in users]
    groups[3] = groups[1]
    # a group that a look does not have
    groups[2][groups[2] == 3] = -1
    found = shared_differences(users, groups, 4)
    for group in range(4):
        assert found[group] == approx(slow(users, groups, group))
    assert found[:, 1, 3] == approx(1)
    assert (found[:, 4, :4] == 0).all()
