"""What can be said where only some users are scored."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from pytest import approx
from scipy.stats import binom

from fairrec.search.evidence import Evidence
from fairrec.search.loop import search
from fairrec.search.options import Budget
from fairrec.search.searcher import hyper_parameters
from fairrec.statistics.intervals import estimate
from fairrec.statistics.moments import Moments, sampled_moments
from fairrec.statistics.permutation import PermutationTest, Resampled, null_distribution
from tests.statistics.small_worlds import (
    Population,
    population,
    random_population,
    score_by_own,
)
from tests.worlds import over_worlds

SKEWED = [0, 0, 0, 0, 0.2, 0.25, 1 / 3, 0.5, 1]


def sampled_world_moments(world: Population, is_scored, is_reference) -> Moments:
    values = np.where(is_scored, world.values, np.nan)
    return sampled_moments(values, is_scored, is_reference, world.grouping)


def partly_scored(world: Population, n_reference: int, n_whole: int, seed: int = 0):
    """Who is scored and who of them at random: some users, and all of some groups."""
    rng = np.random.default_rng(seed)
    n_users = world.values.shape[1]
    is_reference = rng.permutation(n_users) < n_reference
    is_scored = is_reference | (rng.random(n_users) < 0.1)
    for group in rng.permutation(len(world.lattice))[:n_whole]:
        is_scored |= world.users_in(int(group))
    return is_scored, is_reference


def expected_difference(values, inside, is_scored, is_reference) -> float:
    """Mean of the known users inside minus mean of the sample outside, user by user."""
    is_fully_scored = is_scored[inside].all()
    mine = values[inside if is_fully_scored else inside & is_reference]
    others = values[~inside & is_reference]
    if np.isnan(mine).all() or np.isnan(others).all():
        return np.nan
    return float(np.nanmean(mine) - np.nanmean(others))


def everyone(world: Population) -> Moments:
    yes = np.ones(world.values.shape[1], dtype=bool)
    return sampled_world_moments(world, yes, yes)


@pytest.mark.parametrize("share_undefined", [0.0, 0.3])
def test_with_everyone_scored_and_in_the_sample_all_is_as_without_a_search(share_undefined):
    world = random_population(0, share_undefined=share_undefined)
    found = everyone(world)
    assert found.sample is not None
    assert found.sample.is_fully_scored_group.all()
    for name in ("mean", "sd", "n_users", "n", "total", "squares", "n_others", "difference"):
        expected = getattr(world.moments, name)
        assert getattr(found, name) == approx(expected, abs=1e-12, nan_ok=True)
    assert found.chance_error == approx(world.moments.chance_error, abs=1e-12, nan_ok=True)
    mine, expected = (estimate(moments, 0.05) for moments in (found, world.moments))
    for field in fields(mine):
        ends = zip(
            np.atleast_3d(getattr(mine, field.name)),
            np.atleast_3d(getattr(expected, field.name)),
            strict=True,
        )
        for own, other in ends:
            assert own == approx(other, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("share_undefined", [0.0, 0.4])
def test_whole_groups_are_known_by_all_their_users_and_others_by_the_sample(share_undefined):
    world = random_population(1, share_undefined=share_undefined)
    is_scored, is_reference = partly_scored(world, 80, n_whole=15)
    found = sampled_world_moments(world, is_scored, is_reference)
    assert 15 <= found.sample.is_fully_scored_group.sum() < len(world.lattice)
    for metric, values in enumerate(world.values):
        assert found.mean[metric] == approx(np.nanmean(values[is_reference]), abs=1e-12)
        assert found.sd[metric] == approx(np.nanstd(values[is_reference], ddof=1), abs=1e-12)
        for group in range(len(world.lattice)):
            inside = world.users_in(group)
            is_fully_scored = is_scored[inside].all()
            assert found.sample.is_fully_scored_group[group] == is_fully_scored
            known = values[inside if is_fully_scored else inside & is_reference]
            known = known[~np.isnan(known)] - found.mean[metric]
            assert found.n[metric, group] == len(known)
            assert found.total[metric, group] == approx(known.sum(), abs=1e-9)
            assert found.squares[metric, group] == approx((known**2).sum(), abs=1e-9)
            outside = values[~inside & is_reference]
            assert found.n_others[metric, group] == (~np.isnan(outside)).sum()
            expected = expected_difference(values, inside, is_scored, is_reference)
            got = found.difference[metric, group]
            assert got == approx(expected, abs=1e-9, nan_ok=True)


def run(world: Population, moments: Moments, n_permutations=99, seed=0, threads=1):
    is_tested = moments.n >= world.grouping.min_users
    better = [None] * len(moments.mean)
    null = Resampled(moments, moments.sample, world.grouping, is_tested, better)
    test = null_distribution(null, n_permutations, seed, threads)
    return test, is_tested


def test_draws_equal_a_slow_loop_over_users():
    world = random_population(3, n_users=150)
    is_scored, is_reference = partly_scored(world, 60, 10)
    moments = sampled_world_moments(world, is_scored, is_reference)
    test, _ = run(world, moments, 5, seed=9)
    pool = world.values[:, is_scored]
    in_cell = [
        np.flatnonzero(world.grouping.cells.of_user == cell)
        for cell in range(len(world.grouping.cells))
    ]
    # those of the sample first
    order = np.concatenate([users[np.argsort(~is_reference[users])] for users in in_cell])
    n_reached = np.zeros(test.n_reached.shape)
    for number in range(5):
        rng = np.random.Generator(np.random.SFC64([9, number]))
        values = np.empty(world.values.shape)
        values[:, order] = pool[:, rng.integers(pool.shape[1], size=150, dtype=np.int32)]
        largest, largest_own, gaps = {}, {}, []
        for metric, drawn in enumerate(values):
            sd, means = drawn[is_reference].std(ddof=1), []
            for group in range(len(world.lattice)):
                inside = world.users_in(group)
                others = drawn[~inside & is_reference]
                own = {True: drawn[inside], False: drawn[inside & is_reference]}
                size = {is_fully_scored: len(part) for is_fully_scored, part in own.items()}
                statistic = {
                    is_fully_scored: (part.mean() - others.mean())
                    / (sd * np.sqrt(1 / len(part) + 1 / len(others)))
                    for is_fully_scored, part in own.items()
                    if len(part)
                }
                for w, part in own.items():
                    # by all users whatever their number, by the sample where it has enough
                    if not len(part) or (not w and len(part) < world.grouping.min_users):
                        continue
                    sides = [(len(one), len(one) * one.var()) for one in (part, others)]
                    by_own = score_by_own(part.mean() - others.mean(), sides, sd**2)
                    smaller = min(abs(statistic[w]), abs(by_own))
                    depth = int(world.grouping.shortest_depth[group])
                    of_size = sum(len(part) >= edge for edge in (30, 100, 300, 1000))
                    tail = int(by_own < 0)
                    for found, key, score in (
                        (largest, (metric, depth), smaller),
                        (largest_own, (metric, depth, of_size), abs(by_own)),
                    ):
                        found.setdefault(key, [0.0, 0.0])
                        found[key][tail] = max(found[key][tail], score)
                observed = abs(test.scores.smaller[metric, group])
                is_fully_scored = moments.sample.is_fully_scored_group[group]
                if size[is_fully_scored] >= world.grouping.min_users:
                    tested = [statistic[w] for w in own if size[w] >= world.grouping.min_users]
                    n_reached[metric, group] += max(map(abs, tested)) >= observed * (1 - 1e-9)
                if world.lattice.is_full[group]:
                    means.append(own[True].mean())
            gaps.append(max(means) - min(means))
        for found, expected in (
            (test.largest[number], largest),
            (test.largest_own[number], largest_own),
        ):
            in_order = [expected[key] for key in sorted(expected)]
            assert np.abs(found.T - in_order).max() < 1e-9
        assert test.gaps[number] == approx(gaps, abs=1e-12)
    is_tested = moments.n >= world.grouping.min_users
    assert (test.n_reached[is_tested] == n_reached[is_tested]).all()


def searched(
    name: str, codes, values, budget: int, n_reference: int, min_users: int, seed: int
) -> tuple[Population, PermutationTest, np.ndarray]:
    """A search with a budget in users, and the test of what it scored."""
    world = population(codes, values, min_users=min_users)
    space = world.grouping
    evidence = Evidence(space, lambda users: world.values[:, users], len(world.values), seed)
    search(
        *(name, evidence, hyper_parameters(name, {})),
        seed=seed,
        budget=Budget(users=budget),
        n_reference=n_reference,
    )
    assert evidence.users_scored == budget
    moments = sampled_world_moments(world, evidence.is_scored, evidence.is_reference)
    return world, *run(world, moments, seed=seed)


@over_worlds(120)
@pytest.mark.parametrize("name", ["adaptive", "random"])
def test_searches_of_worlds_without_a_gap_have_few_false_findings(name, n_worlds):
    n_users, with_finding, n_whole = 400, 0, 0
    for seed in range(n_worlds):
        rng = np.random.default_rng(seed)
        codes = [np.minimum(rng.geometric(p, n_users) - 1, 4) for p in (0.6, 0.4, 0.4)]
        values = rng.choice(SKEWED, n_users)
        _, test, is_tested = searched(name, codes, values, 80, 24, 5, seed)
        with_finding += (test.adjusted_p_values[is_tested] <= 0.05).any()
        n_whole += is_tested.sum()
    # 12 of 120, of which 6 are expected at most: more come up in 1 case of 100 at that rate, but in
    # 92 of 100 at three times that
    assert with_finding <= binom.ppf(0.99, n_worlds, 0.05)
    assert n_whole / n_worlds > 10
