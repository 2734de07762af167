"""Who was audited in several releases, and in the same groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.result.trend import Users
from fairrec.statistics.release_overlap import shared_differences, shared_users
from fairrec.workflows.releases import Release
from fairrec.workflows.trend_lines import Lines

_ALIKE = 1e-9


def users_in_common(releases: Sequence[Release]) -> Users:
    """In words."""
    tables = [release.users for release in releases if release.users is not None]
    if len(tables) < len(releases):
        return "the same" if _is_one_table(releases) else "not known"
    shared = shared_users(_numbers([table["user_id"] for table in tables]))
    between = shared[~np.eye(len(shared), dtype=bool)]
    if (between > 1 - _ALIKE).all():
        return "the same"
    return "partly the same" if between.any() else "others"


def members_in_common(releases: Sequence[Release], lines: Lines) -> FloatArray:
    """(n_lines, n_releases, n_releases), what each two releases share of a line's users.

    As `shared_differences` has it, of the users with a value; NaN for lines of which it is not
    known.
    """
    shape = len(lines.metrics), len(releases), len(releases)
    tables = [release.users for release in releases if release.users is not None]
    if len(tables) < len(releases):
        return _by_table(releases, lines)
    shared = np.full(shape, np.nan)
    ends = np.cumsum([table.height for table in tables])[:-1]
    users = pl.concat(tables, how="diagonal_relaxed")
    numbers = np.concatenate(_numbers([table["user_id"] for table in tables]))
    for has_value, metrics in _valued(users, lines):
        by_attributes = defaultdict(list)
        for line, group in enumerate(lines.groups):
            if lines.metrics[line] in metrics:
                by_attributes[tuple(sorted(group))].append(line)
        for names, mine in by_attributes.items():
            number, n_groups, groups = _numbered(users, lines, names, mine)
            parts = [
                [
                    part[is_here]
                    for part, is_here in zip(
                        np.split(column, ends), np.split(has_value, ends), strict=True
                    )
                ]
                for column in (numbers, groups)
            ]
            shared[mine] = shared_differences(parts[0], parts[1], n_groups)[number]
    return shared


def exchanged(shared: FloatArray, lines: Lines) -> BoolArray:
    """(n_lines,), whether releases that have a line's group have other members of it."""
    is_pair = lines.is_known[:, :, None] & lines.is_known[:, None]
    return np.asarray((is_pair & (shared < 1 - _ALIKE)).any(axis=(1, 2)))


def _numbers(ids: Sequence[pl.Series]) -> list[IntArray]:
    """Of each release its users, numbered alike in all of them."""
    every = pl.concat([one.alias("") for one in ids])
    codes = every.cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    return np.split(codes, np.cumsum([len(one) for one in ids])[:-1])


def _valued(users: pl.DataFrame, lines: Lines) -> list[tuple[BoolArray, set[str]]]:
    """Who has a value, and the metrics of which it is so; a metric of no single user: everybody."""
    found: dict[bytes, tuple[BoolArray, set[str]]] = {}
    for metric in dict.fromkeys(lines.metrics):
        has_value = np.ones(users.height, dtype=bool)
        if metric in users.columns:
            has_value = users[metric].fill_null(value=False).to_numpy()
        found.setdefault(has_value.tobytes(), (has_value, set()))[1].add(metric)
    return list(found.values())


def _numbered(
    users: pl.DataFrame, lines: Lines, names: Sequence[str], mine: Sequence[int]
) -> tuple[IntArray, int, IntArray]:
    """The groups of some lines by number, how many they are, and of each user the group."""
    values = [tuple(lines.groups[line][name] for name in names) for line in mine]
    numbers = {value: at for at, value in enumerate(dict.fromkeys(values))}
    table = pl.DataFrame(list(numbers), schema=dict.fromkeys(names, pl.String), orient="row")
    where = "group of the line"
    table = table.with_columns(pl.Series(where, range(len(numbers)), pl.Int64))
    of_users = users.select(names).join(table, on=list(names), how="left", maintain_order="left")
    groups = of_users[where].fill_null(-1).to_numpy()
    return np.array([numbers[value] for value in values]), len(numbers), groups


def _by_table(releases: Sequence[Release], lines: Lines) -> FloatArray:
    """All of them where one table tells who is in which group; else nothing is known."""
    shape = len(lines.metrics), len(releases), len(releases)
    if not _is_one_table(releases):
        return np.full(shape, np.nan)
    is_known = np.array(
        [all(_is_alike(releases, name) for name in group) for group in lines.groups]
    )
    return np.broadcast_to(np.where(is_known, 1.0, np.nan)[:, None, None], shape)


def _is_one_table(releases: Sequence[Release]) -> bool:
    tables = {_users_table(release) for release in releases}
    return len(tables) == 1 and None not in tables


def _users_table(release: Release) -> tuple[str, int] | None:
    """What tells a table of users from another; None where that is not known."""
    table = release.summary.inputs.get("users")
    if table is None or table.sha256 is None:
        return None
    return table.sha256, release.summary.n_users


def _is_alike(releases: Sequence[Release], attribute: str) -> bool:
    """Whether an attribute was read in one way: its bins, and how many users have each value."""
    abouts = [release.summary.attributes.get(attribute) for release in releases]
    there = [about for about in abouts if about is not None]
    return all((one.binning, one.values) == (there[0].binning, there[0].values) for one in there)
