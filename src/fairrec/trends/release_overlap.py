"""What releases have in common of their users: all of them, or the members of each group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.core.arrays import AnyArray, FloatArray, IntArray

_MOST_USERS = 100_000


def shared_users(users: Sequence[IntArray]) -> FloatArray:
    """(n_looks, n_looks), users in common as a share of the geometric mean of both numbers.

    >>> shared_users([np.array([0, 1, 2, 3]), np.array([3])])
    array([[1. , 0.5],
           [0.5, 1. ]])

    Parameters
    ----------
    users : of each look the users audited, numbered alike in all of them
    """
    n_all = 1 + max(int(numbers.max(initial=-1)) for numbers in users)
    common = np.zeros((len(users), len(users)))
    for start in range(0, n_all, _MOST_USERS):
        is_there = _is_there(users, start, min(n_all - start, _MOST_USERS))
        common += is_there @ is_there.T
    n = np.sqrt(np.maximum(np.diag(common), 1))
    return np.asarray(common / (n[:, None] * n))


def shared_differences(
    users: Sequence[IntArray], groups: Sequence[IntArray], n_groups: int
) -> FloatArray:
    """(n_groups, n_looks, n_looks), how differences of groups from all others go together.

    The correlation of two looks if a user's value were the same in both: about the share of
    members in common where the group is small, of the others in common where it is large, and
    below 0 where members and others were swapped.

    >>> users = [np.arange(4)] * 3
    >>> groups = [np.array([0, 0, -1, -1]), np.array([-1, -1, 0, 0]), np.array([0, -1, 0, -1])]
    >>> shared_differences(users, groups, 1)[0]
    array([[ 1., -1.,  0.],
           [-1.,  1.,  0.],
           [ 0.,  0.,  1.]])

    Parameters
    ----------
    users : of each look the users audited, numbered alike in all of them
    groups : of each look the group of each of its users, -1 for none
    """
    first, which = _alike(list(zip(users, groups, strict=True)))
    users, groups = [users[look] for look in first], [groups[look] for look in first]
    both, member_there, there = _counts(users, groups, n_groups)
    n = np.array([np.bincount(one[one >= 0], minlength=n_groups) for one in groups]).T
    share = n / np.maximum([len(one) for one in users], 1)
    # a group's difference weighs members by 1 and everybody by less the group's share
    one_sided = share[:, None] * member_there
    products = both - one_sided - one_sided.swapaxes(1, 2)
    products += share[:, :, None] * share[:, None] * there
    length = np.sqrt(n * (1 - share))
    lengths = length[:, :, None] * length[:, None]
    shared = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    itself = np.arange(len(first))
    shared[:, itself, itself] = 1.0
    return np.asarray(np.clip(shared, -1.0, 1.0)[:, which][:, :, which])


def _alike(looks: Sequence[tuple[IntArray, IntArray]]) -> tuple[list[int], IntArray]:
    """Looks that differ from all before them, and of each look the one it is like."""
    first: list[int] = []
    which = []
    for look, mine in enumerate(looks):
        for at, earlier in enumerate(first):
            if all(map(np.array_equal, mine, looks[earlier])):
                which.append(at)
                break
        else:
            which.append(len(first))
            first.append(look)
    return first, np.array(which)


def _counts(
    users: Sequence[IntArray], groups: Sequence[IntArray], n_groups: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How many are members in both looks, members in one and there in the other, there in both.

    (n_groups, n_looks, n_looks) twice, (n_looks, n_looks). Users of one look count nowhere but
    on the diagonals, of which nothing is asked.
    """
    n_looks = len(users)
    shape = n_groups, n_looks, n_looks
    both, member_there, there = np.zeros(shape), np.zeros(shape), np.zeros(shape[1:])
    all_users, all_groups = np.concatenate(users), np.concatenate(groups)
    looks = np.repeat(np.arange(n_looks), [len(one) for one in users])
    is_again = np.bincount(all_users, minlength=1) > 1
    number = is_again.cumsum() - 1
    again = [number[one[is_again[one]]] for one in users]
    is_member = is_again[all_users] & (all_groups >= 0)
    member, look, group = number[all_users[is_member]], looks[is_member], all_groups[is_member]
    order = np.argsort(group, kind="stable")
    member, look, group = member[order], look[order], group[order]
    for start in range(0, int(is_again.sum()), _MOST_USERS):
        is_there = _is_there(again, start, min(int(is_again.sum()) - start, _MOST_USERS))
        there += is_there @ is_there.T
        here = (member >= start) & (member < start + _MOST_USERS)
        members, its_look, ends = member[here] - start, look[here], group[here]
        bounds = np.searchsorted(ends, np.arange(n_groups + 1))
        position = np.zeros(is_there.shape[1], dtype=np.int64)
        for at in np.flatnonzero(np.diff(bounds)):
            mine = slice(bounds[at], bounds[at + 1])
            position[:] = 0
            position[members[mine]] = 1
            columns = np.flatnonzero(position)
            position[columns] = np.arange(len(columns))
            is_in = np.zeros((n_looks, len(columns)), dtype=np.float32)
            is_in[its_look[mine], position[members[mine]]] = 1
            both[at] += is_in @ is_in.T
            member_there[at] += is_in @ is_there[:, columns].T
    return both, member_there, there


def _is_there(users: Sequence[IntArray], start: int, n_users: int) -> AnyArray:
    """(n_looks, n_users), 1 for each of some users who is in a look."""
    is_there = np.zeros((len(users), n_users), dtype=np.float32)
    for look, numbers in enumerate(users):
        is_here = (numbers >= start) & (numbers < start + n_users)
        is_there[look, numbers[is_here] - start] = 1
    return is_there
