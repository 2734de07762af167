from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from pytest import approx

from fairrec.groups.grouping import EVERYONE
from fairrec.search.evidence import Evidence
from fairrec.search.loop import search
from fairrec.search.searcher import hyper_parameters
from tests.search.search_worlds import evidence_of, product_space, skewed_space, space_of, users_of

SEEDS = 1_500


def group_at(space, *codes):
    """The position in the lattice of a group, -1 for "any" in its codes."""
    return space.lattice.codes.tolist().index(list(codes))


def two_by_two():
    """Cells of 4, 2, 1 and 3 users."""
    gender = [0] * 6 + [1] * 4
    age = [0] * 4 + [1] * 2 + [0] * 1 + [1] * 3
    return space_of([gender, age], (2, 2), depth=1)


@pytest.mark.parametrize(
    "codes", [(0, 0), (0, -1), (-1, 1), None], ids=["cell", "two cells", "two others", "everyone"]
)
def test_next_users_are_a_random_sample_of_the_group(codes):
    space = two_by_two()
    group = EVERYONE if codes is None else group_at(space, *codes)
    members = range(10) if codes is None else users_of(space, group)
    pairs = dict.fromkeys(combinations(members, 2), 0)
    for seed in range(SEEDS):
        users = evidence_of(space, np.zeros(10), seed).next_users(group, 2)
        pairs[tuple(sorted(users.tolist()))] += 1
    expected = SEEDS / len(pairs)
    # chi squared with so many degrees of freedom is hardly ever 5 deviations above its mean
    statistic = sum((n - expected) ** 2 / expected for n in pairs.values())
    assert statistic < len(pairs) - 1 + 5 * np.sqrt(2 * (len(pairs) - 1))


def test_order_of_the_first_two_is_random_too():
    space = two_by_two()
    for group in (group_at(space, 0, 0), group_at(space, 0, -1)):
        falls = [
            np.diff(evidence_of(space, np.zeros(10), seed).next_users(group, 2))[0] < 0
            for seed in range(SEEDS)
        ]
        assert np.mean(falls) == approx(1 / 2, abs=5 * 0.5 / np.sqrt(SEEDS))


@pytest.mark.parametrize("codes", [(0, 0), (0, -1), None])
def test_asking_in_steps_gives_the_same_users_in_the_same_order(codes):
    space = two_by_two()
    group = EVERYONE if codes is None else group_at(space, *codes)
    at_once = evidence_of(space, np.zeros(10), 3).next_users(group, 99).tolist()
    evidence = evidence_of(space, np.zeros(10), 3)
    in_steps = []
    while len(users := evidence.next_users(group, 3)):
        assert len(users) == min(3, evidence.n_left(group))
        evidence.score(users)
        in_steps += users.tolist()
    assert in_steps == at_once
    assert sorted(at_once) == (list(range(10)) if codes is None else users_of(space, group))


def test_number_scored_in_a_cell_says_who_they_are():
    """Whatever groups were asked for."""
    space = skewed_space(0, (2, 3, 4), 200, 3, depth=2)
    firsts = {}
    for route in range(20):
        rng = np.random.default_rng(route)
        evidence = evidence_of(space, np.zeros(200))
        for _ in range(15):
            group = int(rng.integers(EVERYONE, len(space.lattice)))
            evidence.score(evidence.next_users(group, int(rng.integers(1, 12))))
        for cell, n in enumerate(evidence.n_scored.tolist()):
            scored = np.flatnonzero(evidence.is_scored & (space.cells.of_user == cell)).tolist()
            assert len(scored) == n
            assert firsts.setdefault((cell, n), scored) == scored


def test_reference_sample_is_uniform_over_users():
    # nine users in large cells, one alone
    space = space_of([[0] * 6 + [1] * 3 + [2]], (3,), min_users=2)
    counts = np.zeros(10)
    for seed in range(SEEDS):
        evidence = evidence_of(space, np.zeros(10), seed)
        search("random", evidence, hyper_parameters("random", {}), seed=seed, n_reference=3)
        assert evidence.is_reference.sum() == 3
        counts += evidence.is_reference
    assert counts / SEEDS == approx(0.3, abs=5 * np.sqrt(0.3 * 0.7 / SEEDS))


def test_reference_sample_is_who_was_scored_first():
    space = skewed_space(0, (2, 3, 4), 200, 3)
    scored = []

    def measure(users):
        scored.extend(users.tolist())
        return np.zeros((1, len(users)))

    evidence = Evidence(space, measure, 1, 0)
    search("themis", evidence, hyper_parameters("themis", {}), n_reference=50)
    assert np.flatnonzero(evidence.is_reference).tolist() == sorted(scored[:50])


@pytest.mark.parametrize("depth", [1, 2, None])
def test_users_of_every_group_are_its_members(depth):
    space = skewed_space(1, (2, 3, 4), 200, 3, depth)
    evidence = evidence_of(space, np.zeros(200))
    evidence.score(evidence.next_users(EVERYONE, 60))
    for group in range(len(space.lattice)):
        members = set(users_of(space, group))
        assert len(members) == space.lattice.n_users[group]
        still = {user for user in members if not evidence.is_scored[user]}
        assert set(evidence.next_users(group, 999).tolist()) == still
        assert evidence.n_left(group) == len(still)
        assert set(evidence.next_users(group, 2).tolist()) <= still


def test_nobody_is_named_again_once_scored():
    space = skewed_space(2, (2, 3, 4), 200, 3, depth=2)
    evidence = evidence_of(space, np.zeros(200))
    rng = np.random.default_rng(0)
    scored = set()
    for step in range(80):
        group = int(rng.integers(EVERYONE, len(space.lattice)))
        users = evidence.next_users(group, int(rng.integers(1, 9)))
        assert not scored & set(users.tolist())
        evidence.score(users)
        scored |= set(users.tolist())
        assert evidence.users_scored == len(scored), step
    assert np.flatnonzero(evidence.is_scored).tolist() == sorted(scored)
    assert len(scored) > 100


def test_sums_are_those_of_the_scored_users():
    space = skewed_space(3, (2, 3, 4), 200, 3)
    rng = np.random.default_rng(0)
    values, proxy = rng.normal(size=(2, 2, 200))
    values[:, ::3] = np.nan
    values[0, ::4] = np.nan
    proxy[:, ::5] = np.nan
    proxy += 10
    evidence = evidence_of(space, values, proxy=proxy)
    scored = []
    for _ in range(4):
        users = evidence.next_users(EVERYONE, 35)
        evidence.score(users)
        scored += users.tolist()
    for metric in range(2):
        # around the mean of those who have a proxy; no proxy says nothing
        centred = np.nan_to_num(proxy[metric] - np.nanmean(proxy[metric]))
        assert evidence.proxy_variance[metric] == approx(np.mean(centred**2))
        for cell in range(len(space.cells)):
            own = [user for user in range(200) if space.cells.of_user[user] == cell]
            seen = [user for user in own if user in scored]
            known = [user for user in seen if not np.isnan(values[metric, user])]
            possible = [user for user in own if user in known or user not in seen]
            value = values[metric]
            assert evidence.n_scored[cell] == len(seen)
            assert evidence.n_defined[metric, cell] == len(known)
            assert evidence.totals[metric, cell] == approx(sum(value[u] for u in known))
            assert evidence.squares[metric, cell] == approx(sum(value[u] ** 2 for u in known))
            assert evidence.proxies[metric, cell] == approx(sum(centred[u] for u in known))
            assert evidence.proxy_squares[metric, cell] == approx(
                sum(centred[u] ** 2 for u in known)
            )
            assert evidence.products[metric, cell] == approx(
                sum(centred[u] * value[u] for u in known)
            )
            assert evidence.all_proxies[metric, cell] == approx(sum(centred[u] for u in possible))


def test_values_are_kept_for_the_scored_users_only():
    space = product_space((2, 2), users_each=5)
    values = np.arange(40.0).reshape(2, 20)
    values[0, ::4] = np.nan
    evidence = evidence_of(space, values)
    assert np.isnan(evidence.values_per_user).all()
    users = evidence.next_users(EVERYONE, 8)
    evidence.score(users)
    assert evidence.values_per_user[:, users] == approx(values[:, users], nan_ok=True)
    assert np.isnan(evidence.values_per_user[:, ~evidence.is_scored]).all()


def test_group_has_a_value_when_its_last_user_is_scored():
    space = product_space((1, 2), users_each=3)
    evidence = evidence_of(space, np.array([1.0, 2.0, 6.0, 7.0, 8.0, 9.0]))
    for n_scored in range(3):
        assert np.isnan(evidence.values(space.full)).all(), n_scored
        assert not evidence.is_complete.any()
        evidence.score(evidence.next_users(int(space.full[0]), 1))
    assert evidence.is_complete.tolist() == [True, False]
    assert evidence.values(space.full)[0] == approx([(1 + 2 + 6) / 3, np.nan], nan_ok=True)
    # also when asked for in another order
    assert evidence.values(space.full[::-1])[0] == approx([np.nan, 3], nan_ok=True)


def test_group_with_too_few_defined_users_has_no_value():
    space = space_of([[0] * 3 + [1] * 3], (2,), min_users=2)
    values = np.array([[1, np.nan, np.nan, 1, 3, np.nan]])
    evidence = evidence_of(space, values)
    evidence.score(evidence.next_users(EVERYONE, 6))
    assert evidence.values(space.full)[0] == approx([np.nan, 2], nan_ok=True)


def test_groups_of_the_lattice_without_an_eligible_cell_are_found():
    # six users of one gender, two of each age: no cell has three
    space = space_of([[0] * 6, [0, 0, 1, 1, 2, 2]], (1, 3), min_users=3, depth=1)
    assert len(space.full) == 0
    women = group_at(space, 0, -1)
    assert sorted(evidence_of(space, np.zeros(6)).next_users(women, 9)) == list(range(6))
