"""Tables of groups of several releases -> lines: a group in one metric, release after release."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import InputError, listed, plain, unknown_name
from fairrec.core.options import spell
from fairrec.metrics.direction import harm, worse_ends
from fairrec.result.tables import row_group
from fairrec.statistics.intervals import Interval
from fairrec.statistics.verdict import harm_interval
from fairrec.trends.e_process import (
    Evidence,
    Said,
    evidence_of_change,
    evidence_of_harm,
    shares_of_level,
    standard_errors,
)
from fairrec.trends.options import Conditions
from fairrec.trends.release_overlap import shared_differences, shared_users
from fairrec.trends.releases import Release
from fairrec.trends.result import TrendPoint, Users

NUMBERS = (
    *("value", "support", "difference", "difference_low", "difference_high"),
    *("simultaneous_low", "simultaneous_high"),
)
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Lines:
    """All lines; arrays are (n_lines, n_releases), NaN where a release has no such number.

    Parameters
    ----------
    groups : conditions of each line
    numbers : by name, as the table of groups has them
    outcomes : None where nothing was tested
    error : standard error of the difference, at least that of a random group of as many
    error_by_users : the same as users drawn again tell it, where items are compared; of users as
        `error`
    """

    metrics: list[str]
    groups: list[dict[str, str]]
    numbers: Mapping[str, FloatArray]
    outcomes: list[list[Any]]
    error: FloatArray
    error_by_users: FloatArray
    directions: Mapping[str, bool | None]

    @property
    def is_known(self) -> BoolArray:
        """Whether a release says how far a line's group is from all others, and how surely."""
        return np.isfinite(self.error) & np.isfinite(self.numbers["difference"])

    def conditions(self, line: int) -> Conditions:
        """The group of a line."""
        return frozenset(self.groups[line].items())

    def points(self, line: int) -> tuple[TrendPoint | None, ...]:
        """A line as it is shown."""
        return tuple(self._point(line, look) for look in range(len(self.outcomes[line])))

    def _point(self, line: int, look: int) -> TrendPoint | None:
        found = {name: _or_none(column[line, look]) for name, column in self.numbers.items()}
        if found["value"] is None:
            return None
        direction = self.directions[self.metrics[line]]
        difference = found["difference"]
        return TrendPoint(
            value=found["value"],
            support=int(found["support"] or 0),
            difference=difference,
            harm=None if difference is None else harm(difference, direction),
            interval=_harms(found["difference_low"], found["difference_high"], direction),
            simultaneous=_harms(found["simultaneous_low"], found["simultaneous_high"], direction),
            outcome=self.outcomes[line][look],
        )


@dataclass(frozen=True, slots=True)
class Followed:
    """What is shown of lines, each by its worse ends.

    Parameters
    ----------
    line, sign : (n_ends,), the line of each end, and what turns its differences into harms
    harm : (n_ends, n_releases)
    growth, grew : evidence that a harm grew, and what is said of it
    together, worse : the same of a harm by all releases
    """

    line: IntArray
    sign: FloatArray
    harm: FloatArray
    growth: Evidence
    grew: Said
    together: Evidence
    worse: Said


def follow(lines: Lines, tiers: IntArray, shared: FloatArray, alpha: float) -> Followed:
    """Ask both questions of all lines.

    Parameters
    ----------
    tiers : (n_lines,), see `shares_of_level`
    shared : (n_things, n_lines, n_releases, n_releases), see `evidence_of_change`
    """
    ends = [
        (line, sign, len(signs))
        for line, metric in enumerate(lines.metrics)
        for signs in [worse_ends(lines.directions[metric])]
        for sign in signs
    ]
    line = np.array([line for line, _, _ in ends], dtype=np.int64)
    sign = np.array([sign for _, sign, _ in ends])
    shares = shares_of_level(lines.is_known, tiers)[line] / [n for _, _, n in ends]
    harms = sign[:, None] * lines.numbers["difference"][line]
    of_ends = shared[:, line]
    # the same items grow no worse by how much they differ; others may, and so may any be by luck
    is_same = (of_ends[0] > 1 - _ROUNDING).all(axis=(1, 2))
    error = np.where(is_same[:, None], lines.error_by_users[line], lines.error[line])
    growth = evidence_of_change(harms, error, of_ends)
    # a catalogue is all there is: what is off by luck is off by users
    together = evidence_of_harm(harms, lines.error_by_users[line], of_ends)
    grew, worse = (Said.of(evidence, shares, alpha) for evidence in (growth, together))
    return Followed(line, sign, harms, growth, grew, together, worse)


def build_lines(
    releases: Sequence[Release], metrics: Sequence[str], groups: Sequence[Conditions]
) -> Lines:
    """The lines of some metrics: of these groups, or of all where none are named."""
    attributes = [*dict.fromkeys(name for one in releases for name in one.summary.attributes)]
    keys = ["metric", *attributes]
    tables = []
    for number, release in enumerate(releases):
        there = [name for name in keys if name in release.groups.columns]
        wanted = [*there, *NUMBERS, "outcome"]
        table = release.groups.filter(pl.col("metric").is_in(list(metrics))).select(wanted)
        tables.append(
            table.with_columns(pl.col(NUMBERS).cast(pl.Float64), pl.lit(number).alias("look"))
        )
    frame = pl.concat(tables, how="diagonal_relaxed")
    if groups:
        frame = _only(frame, attributes, groups)
    by_line = frame.group_by(keys, maintain_order=True).agg("look", *NUMBERS, "outcome")
    shape = by_line.height, len(releases)
    exploded = by_line.with_row_index("line").explode("look", *NUMBERS, "outcome")
    line, look = exploded["line"].to_numpy(), exploded["look"].to_numpy()
    numbers = {name: np.full(shape, math.nan) for name in NUMBERS}
    for name, column in numbers.items():
        column[line, look] = exploded[name].fill_null(math.nan).to_numpy()
    outcomes: list[list[Any]] = [[None] * shape[1] for _ in range(shape[0])]
    for at_line, at_look, outcome in zip(line, look, exploded["outcome"], strict=True):
        outcomes[at_line][at_look] = outcome
    names = by_line["metric"].to_list()
    conditions = [row_group(row) for row in by_line.select(attributes).iter_rows(named=True)]
    return Lines(
        names,
        conditions,
        numbers,
        outcomes,
        _errors(releases, names, numbers),
        _errors(releases, names, numbers, is_by_users=True),
        metric_directions(releases, metrics),
    )


def _only(
    frame: pl.DataFrame, attributes: Sequence[str], groups: Sequence[Conditions]
) -> pl.DataFrame:
    """The rows of some groups; an error that names one that no release has."""
    parts = []
    for group in groups:
        wanted = dict(group)
        for name in wanted:
            if name not in attributes:
                raise unknown_name("attribute in these audits", name, attributes)
        is_it = pl.lit(True)
        for name in attributes:
            value = pl.col(name)
            is_it &= value == wanted[name] if name in wanted else value.is_null()
        rows = frame.filter(is_it)
        if rows.is_empty():
            label = ", ".join(f"{plain(name)}={plain(value)}" for name, value in sorted(group))
            raise InputError(
                f"No release has the group {label}. It may be too small, or its values may "
                f"be other ones: {_values(frame, wanted)}."
            )
        parts.append(rows)
    return pl.concat(parts)


def _values(frame: pl.DataFrame, wanted: Mapping[str, str]) -> str:
    return "; ".join(
        f"{plain(name)} has {listed(frame[name].drop_nulls().unique().sort())}" for name in wanted
    )


def metric_directions(
    releases: Sequence[Release], metrics: Sequence[str]
) -> dict[str, bool | None]:
    """Which end of each metric is better; an error where releases do not agree."""
    directions = {}
    for metric in metrics:
        there = [one.summary.metrics[metric] for one in releases if metric in one.summary.metrics]
        found = {about.higher_is_better for about in there}
        if len(found) > 1:
            raise InputError(
                f"{plain(metric)}: its better end is not the same in all releases, so harms cannot "
                f"be compared. Follow other metrics with {spell('metric')}."
            )
        (directions[metric],) = found
    return directions


def _errors(
    releases: Sequence[Release],
    metrics: Sequence[str],
    numbers: Mapping[str, FloatArray],
    is_by_users: bool = False,
) -> FloatArray:
    shape = numbers["value"].shape
    alpha, n_all, sd = np.full(shape, 0.05), np.full(shape, math.nan), np.full(shape, math.nan)
    rows = {name: [at for at, metric in enumerate(metrics) if metric == name] for name in metrics}
    for look, release in enumerate(releases):
        alpha[:, look] = release.summary.alpha
        for name, mine in rows.items():
            about = release.summary.metrics.get(name)
            if about is None or (is_by_users and not release.summary.unit.is_users):
                continue
            n_all[mine, look] = about.n_compared or about.n_defined
            sd[mine, look] = math.nan if about.sd is None else about.sd
    return standard_errors(
        numbers["difference_low"],
        numbers["difference_high"],
        alpha,
        numbers["support"],
        n_all,
        sd,
    )


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _harms(
    low: float | None, high: float | None, higher_is_better: bool | None
) -> tuple[float | None, float | None]:
    """The interval of a difference as that of a harm; None: no limit."""
    ends = Interval(
        np.array(-math.inf if low is None else low), np.array(math.inf if high is None else high)
    )
    of_harm = harm_interval(ends, higher_is_better)
    return _or_none(float(of_harm.low)), _or_none(float(of_harm.high))


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
