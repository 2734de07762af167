"""What releases have in common: their users, the members of each group, held-out data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.trends.group_lines import Lines
from fairrec.trends.releases import Release
from fairrec.trends.result import Users

_ROUNDING = 1e-9
_ABSENT = -2


def shared_users(users: Sequence[IntArray]) -> FloatArray:
    """(n_looks, n_looks), users in common as a share of the geometric mean of both numbers.

    >>> shared_users([np.array([0, 1, 2, 3]), np.array([3])])
    array([[1. , 0.5],
           [0.5, 1. ]])

    Parameters
    ----------
    users : of each look the users audited, numbered alike in all of them
    """
    *_, common = _count_common(users, [np.full(len(one), -1) for one in users], 0)
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
    """In words."""
    tables = [release.users for release in releases if release.users is not None]
    if len(tables) < len(releases):
        return "the same" if _is_one_table(releases) else "not known"
    shared = shared_users(_numbered_users(tables))
    between = shared[~np.eye(len(shared), dtype=bool)]
    if (between > 1 - _ROUNDING).all():
        return "the same"
    return "partly the same" if between.any() else "others"


def members_in_common(releases: Sequence[Release], lines: Lines) -> FloatArray:
    """(n_lines, n_releases, n_releases), what each two releases share of a line's users.

    As `shared_differences` has it, of the users with a value; NaN for lines of which it is not
    known.
    """
    shared = np.full((len(lines.metrics), len(releases), len(releases)), np.nan)
    tables = [release.users for release in releases if release.users is not None]
    if len(tables) < len(releases):
        # one table of users tells who is in which group, where it was read in one way
        if _is_one_table(releases):
            alike = {name for name in _attributes(lines) if _is_alike(releases, name)}
            shared[[{*group} <= alike for group in lines.groups]] = 1.0
        return shared
    ends = np.cumsum([table.height for table in tables])[:-1]
    users = pl.concat(tables, how="diagonal_relaxed")
    numbers = np.concatenate(_numbered_users(tables))
    # lines of the same attributes and users with a value are looked at together
    masks, families = {}, defaultdict(list)
    for line, (metric, group) in enumerate(zip(lines.metrics, lines.groups, strict=True)):
        # a metric of no single user is one of everybody
        has_value = np.ones(users.height, dtype=bool)
        if metric in users.columns:
            has_value = users[metric].fill_null(value=False).to_numpy()
        key = has_value.tobytes()
        masks[key] = has_value
        families[key, tuple(sorted(group))].append(line)
    for (key, names), mine in families.items():
        values = [tuple(lines.groups[line][name] for name in names) for line in mine]
        number, n_groups, groups = _number_groups(users, names, values)
        of_looks, groups_of_looks = (
            [
                part[is_here]
                for part, is_here in zip(
                    np.split(column, ends), np.split(masks[key], ends), strict=True
                )
            ]
            for column in (numbers, groups)
        )
        shared[mine] = shared_differences(of_looks, groups_of_looks, n_groups)[number]
    return shared


def exchanged(shared: FloatArray, lines: Lines) -> BoolArray:
    """(n_lines,), whether releases that have a line's group have other members of it."""
    is_pair = lines.is_known[:, :, None] & lines.is_known[:, None]
    return np.asarray((is_pair & (shared < 1 - _ROUNDING)).any(axis=(1, 2)))


def held_out_in_common(releases: Sequence[Release]) -> FloatArray:
    """1 for each two releases that are judged by one table of held-out interactions."""
    tables = [release.summary.inputs.get("test") for release in releases]
    sums = [at if table is None else table.sha256 or at for at, table in enumerate(tables)]
    return np.array([[float(a == b) for b in sums] for a in sums])


def _numbered_users(tables: Sequence[pl.DataFrame]) -> list[IntArray]:
    """Of each release its users, numbered alike in all of them."""
    ids = pl.concat([table["user_id"] for table in tables])
    codes = ids.rank("dense").to_numpy().astype(np.int64) - 1
    return np.split(codes, np.cumsum([table.height for table in tables])[:-1])


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


def _attributes(lines: Lines) -> set[str]:
    return {name for group in lines.groups for name in group}


def _is_one_table(releases: Sequence[Release]) -> bool:
    """Whether all were made with one table of users, as far as that is known."""
    tables = [release.summary.inputs.get("users") for release in releases]
    known = {
        (table.sha256, release.summary.n_users)
        for table, release in zip(tables, releases, strict=True)
        if table is not None and table.sha256 is not None
    }
    has_table = all(table is not None and table.sha256 is not None for table in tables)
    return has_table and len(known) == 1


def _is_alike(releases: Sequence[Release], attribute: str) -> bool:
    """Whether an attribute was read in one way: its bins, and how many users have each value."""
    abouts = [release.summary.attributes.get(attribute) for release in releases]
    there = [about for about in abouts if about is not None]
    return all((one.binning, one.values) == (there[0].binning, there[0].values) for one in there)
