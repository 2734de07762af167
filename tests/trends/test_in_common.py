"""What releases share of users and of the members of groups, against slow definitions."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.trends import release_overlap
from fairrec.trends.release_overlap import shared_differences, shared_users


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


def test_users_in_common_are_counted():
    users = [np.arange(150_000), np.arange(75_000, 225_000), np.arange(225_000, 225_001)]
    assert shared_users(users) == approx(np.array([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]))


@pytest.mark.parametrize("most_users", [100_000, 7])
def test_what_differences_share_is_the_correlation_of_their_weights(most_users, monkeypatch):
    monkeypatch.setattr(release_overlap, "_MOST_USERS", most_users)
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
    assert (found[:, 1, 3] == 1).all()
    assert (found[:, 4, :4] == 0).all()


def test_the_same_users_with_the_same_labels_share_all_and_with_other_labels_little():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 20, 4000)
    again = shared_differences([np.arange(4000)] * 2, [labels, labels], 20)
    assert (again == 1).all()
    dealt_anew = shared_differences([np.arange(4000)] * 2, [labels, rng.permutation(labels)], 20)
    assert np.abs(dealt_anew[:, 0, 1]).max() < 0.06
