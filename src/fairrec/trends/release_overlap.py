"""What releases have in common: their users, the members of each group, held-out data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.trends.group_lines import Lines
from fairrec.trends.releases import Release
from fairrec.trends.result import Users

_ABSENT = -2


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
    both, member_there, there = _count_common(users, groups, n_groups)
    n = np.diagonal(both, axis1=1, axis2=2)
    share = n / np.maximum(np.diag(there), 1)
    # a group's difference weighs members by 1 and everybody by less the group's share
    one_sided = share[:, None] * member_there
    products = both - one_sided - one_sided.swapaxes(1, 2)
    products += share[:, :, None] * share[:, None] * there
    length = np.sqrt(n * (1 - share))
    lengths = length[:, :, None] * length[:, None]
    shared = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    itself = np.arange(len(users))
    shared[:, itself, itself] = 1.0
    return np.asarray(np.clip(shared, -1.0, 1.0))


def _count_common(
    users: Sequence[IntArray], groups: Sequence[IntArray], n_groups: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How many are members in both looks, members in one and there in the other, there in both.

    (n_groups, n_looks, n_looks) twice, (n_looks, n_looks).
    """
    n_looks, n_users = len(users), 1 + max(int(numbers.max(initial=-1)) for numbers in users)
    group_of_user = np.full((n_users, n_looks), _ABSENT, dtype=np.int32)
    for look, (numbers, its) in enumerate(zip(users, groups, strict=True)):
        group_of_user[numbers, look] = its
    both, member_there = np.zeros((2, n_groups, n_looks, n_looks))
    there = np.zeros((n_looks, n_looks))
    _add_common(group_of_user, both, member_there, there)
    return both, member_there, there


@kernel
def _add_common(
    group_of_user: AnyArray, both: FloatArray, member_there: FloatArray, there: FloatArray
) -> None:
    """Add up over users."""
    for user in range(len(group_of_user)):
        mine = group_of_user[user]
        for one in range(len(mine)):
            if mine[one] == _ABSENT:
                continue
            for other in range(len(mine)):
                if mine[other] == _ABSENT:
                    continue
                there[one, other] += 1
                if mine[one] >= 0:
                    member_there[mine[one], one, other] += 1
                    if mine[one] == mine[other]:
                        both[mine[one], one, other] += 1


def users_in_common(releases: Sequence[Release]) -> Users:
    """Whether the releases were judged by the same users."""
    ids = [set(release.users["user_id"]) for release in releases if release.users is not None]
    if len(ids) < len(releases):
        return "not known"
    n_all = len(set.union(*ids))
    if all(len(one) == n_all for one in ids):
        return "the same"
    return "others" if sum(map(len, ids)) == n_all else "partly the same"


def members_in_common(releases: Sequence[Release], lines: Lines) -> FloatArray:
    """(n_lines, n_releases, n_releases), what each two releases share of a line's users.

    As `shared_differences` has it, of the users with a value; NaN where users are not known.
    """
    shared = np.full((len(lines.metrics), len(releases), len(releases)), np.nan)
    tables = [release.users for release in releases if release.users is not None]
    if len(tables) < len(releases):
        return shared
    ends = np.cumsum([table.height for table in tables])[:-1]
    users = pl.concat(tables, how="diagonal_relaxed")
    numbers = users["user_id"].rank("dense").to_numpy().astype(np.int64) - 1
    # lines of the same attributes and users with a value are looked at together
    masks, families = {}, defaultdict(list)
    for line, (metric, group) in enumerate(zip(lines.metrics, lines.groups, strict=True)):
        # a metric of no single user is one of all
        has_value = np.ones(users.height, dtype=bool)
        if metric in users.columns:
            has_value = users[metric].fill_null(value=False).to_numpy()
        key = has_value.tobytes()
        masks[key] = has_value
        families[key, tuple(sorted(group))].append(line)
    for (key, names), mine in families.items():
        values = [tuple(lines.groups[line][name] for name in names) for line in mine]
        number, n_groups, groups = _number_groups(users, names, values)
        is_here = np.split(masks[key], ends)
        of_looks, groups_of_looks = (
            [part[mask] for part, mask in zip(np.split(column, ends), is_here, strict=True)]
            for column in (numbers, groups)
        )
        shared[mine] = shared_differences(of_looks, groups_of_looks, n_groups)[number]
    return shared


def held_out_in_common(releases: Sequence[Release]) -> FloatArray:
    """1 for each two releases that are judged by one table of held-out interactions."""
    tables = [release.summary.inputs.get("test") for release in releases]
    sums = [at if table is None else table.sha256 or at for at, table in enumerate(tables)]
    return np.array([[float(a == b) for b in sums] for a in sums])


def _number_groups(
    users: pl.DataFrame, names: Sequence[str], values: Sequence[tuple[str, ...]]
) -> tuple[IntArray, int, IntArray]:
    """The number of each group by its values, how many there are, and of each user the group."""
    numbers = {value: at for at, value in enumerate(dict.fromkeys(values))}
    table = pl.DataFrame(list(numbers), schema=dict.fromkeys(names, pl.String), orient="row")
    table = table.with_columns(pl.Series("group of the line", [*numbers.values()], pl.Int64))
    found = users.select(names).join(table, on=list(names), how="left", maintain_order="left")
    groups = found["group of the line"].fill_null(-1).to_numpy()
    return np.array([numbers[value] for value in values]), len(numbers), groups
