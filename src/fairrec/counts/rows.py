"""Counts -> what an audit works on, with rows that stand for many users."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError, plain
from fairrec.counts.levels import notes_on_levels
from fairrec.counts.table import (
    AS_READ,
    FAMILY,
    LEVEL,
    MEANING,
    SHARE,
    USERS,
    AttributeInfo,
    Counts,
    CountsInfo,
    family_name,
    squares_column,
)
from fairrec.groups.cells import number_combinations
from fairrec.inputs.audit_inputs import InputMetadata
from fairrec.inputs.users import MISSING, Attribute, Value, multivalued_column
from fairrec.metrics import Metric, MetricAtK
from fairrec.metrics.measured import Alike, Measured
from fairrec.statistics.missing import ExpectedUsers, MissingOutcome, missing_share
from fairrec.statistics.strata import Strata

_SAME = 1e-11
"""Squares around a mean that are so small beside the squares themselves are rounding."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What an audit works on.

    Parameters
    ----------
    n_users : (n_rows,), users of each row in the first family, which holds everyone once
    strata : None where no covariates are given
    outcomes : the ways in which users may be missing
    expected : who is expected to have a value, for each metric
    """

    measured: Measured
    attributes: tuple[Attribute, ...]
    n_users: IntArray
    strata: Strata | None
    outcomes: tuple[MissingOutcome, ...]
    expected: tuple[ExpectedUsers, ...]
    described: InputMetadata


def counted_users(counts: Counts) -> Counted:
    """The users of counts with metadata."""
    info = counts.about
    families = {one: _family(family_name(one), counts.keys, counts) for one in info.families}
    _refuse_unequal(families, counts.keys, counts.where)
    metrics = {
        # metrics that cannot be computed again
        name: MetricAtK(
            Metric(
                **about.model_dump(include=MEANING),
                name=name,
                compute=lambda lists: None,
                needs=frozenset(),
                has_cutoff=False,
            ),
            None,
        )
        for name, about in info.metrics.items()
    }
    keys, measured = _in_rows(families, info.described_keys, metrics)
    assert measured.alike is not None
    n_users = measured.alike.n[0].astype(np.int64)
    columns = [multivalued_column(key.name, key.values) for key in keys]
    # of the attributes that a column became, the first has the note
    keys = [
        _with_missing(key, n_users, column is not None and column in columns[:at])
        for at, (key, column) in enumerate(zip(keys, columns, strict=True))
    ]
    attributes, given = tuple(keys[: len(info.attributes)]), tuple(keys[len(info.attributes) :])
    strata = None
    if given:
        strata = Strata.from_codes([one.codes for one in given], [len(one.values) for one in given])
    # of lists that are tied as deep as one of the metrics that are left looks
    ties, cutoffs = info.ties, re.findall(r"@(\d+)", " ".join(info.metrics))
    described = InputMetadata(
        **{name: getattr(info, name) for name in AS_READ},
        tables={},
        n_users=int(n_users.sum()),
        attributes=attributes,
        covariates=given,
        warnings=(*info.warnings, *notes_on_levels(measured, counts.where)),
        ties=ties if ties is not None and str(ties.k) in cutoffs else None,
    )
    expected = tuple(
        ExpectedUsers(one.n_expected, one.n_undefined) for one in info.metrics.values()
    )
    return Counted(
        measured,
        attributes,
        n_users,
        strata,
        tuple(_outcomes(info, counts)),
        expected,
        described,
    )


_Families = Mapping[tuple[str, ...], pl.DataFrame]
"""Metrics -> the rows of their family."""


def _family(name: str, keys: Sequence[str], counts: Counts) -> pl.DataFrame:
    """The rows of one family, the users of one place together."""
    rows = counts.rows.filter(pl.col(FAMILY) == name)
    if not rows.height:
        raise InputError(f"{counts.where}: has no rows of the family '{plain(name)}'. Count again.")
    rows = rows.with_columns(pl.col(keys).cast(pl.String).fill_null(MISSING))
    return rows.sort([*keys, LEVEL], nulls_last=True)


def _refuse_unequal(families: _Families, keys: Sequence[str], where: str) -> None:
    """Every family is about the same users."""
    first, *others = (rows.group_by(keys).agg(pl.col(USERS).sum()) for rows in families.values())
    first_name, *names = map(family_name, families)
    for name, other in zip(names, others, strict=True):
        both = first.join(other, on=[*keys], how="full", coalesce=True).fill_null(0)
        differ = both.filter(pl.col(USERS) != pl.col(f"{USERS}_right")).sort([*keys])
        if differ.height:
            here = ", ".join(f"{key}={differ[key][0]}" for key in keys)
            n, its = differ.select(USERS, f"{USERS}_right").row(0)
            raise InputError(
                f"{where}: has {n:,} users of {plain(here)} for '{plain(first_name)}' and "
                f"{its:,} for '{plain(name)}' ({differ.height:,} such combinations). Every family "
                "is about the same users, those without a value included: their level is empty."
            )


def _in_rows(
    families: _Families,
    keys: Mapping[str, AttributeInfo],
    metrics: Mapping[str, MetricAtK],
) -> tuple[list[Attribute], Measured]:
    """All families in one set of rows: the first row of a place holds the first level of each."""
    every_row = pl.concat([rows.select([*keys]) for rows in families.values()])
    attributes = [_attribute(every_row[name], about) for name, about in keys.items()]
    n_values = [len(one.values) for one in attributes]
    _, place = number_combinations([one.codes for one in attributes], n_values)
    ends = np.cumsum([rows.height for rows in families.values()])
    places = np.split(place.astype(np.int64), ends[:-1])
    n_places = int(place.max()) + 1
    n_slots = np.max([np.bincount(one, minlength=n_places) for one in places], axis=0)
    start = np.cumsum(n_slots) - n_slots
    shape = (len(metrics), int(n_slots.sum()))
    values, n, inner = np.full(shape, np.nan), np.zeros(shape), np.zeros(shape)
    level = np.zeros(shape, dtype=np.int64)
    position = {name: i for i, name in enumerate(metrics)}
    for (names, rows), at in zip(families.items(), places, strict=True):
        # 0, 1, 2, ... for the rows of each place, in their order
        number = pl.DataFrame({"at": at}).select(pl.int_range(pl.len()).over("at")).to_series()
        row = start[at] + number.to_numpy()
        users = rows[USERS].to_numpy().astype(np.float64)
        codes = rows[LEVEL].fill_null("").rank("dense").to_numpy().astype(np.int64)
        for name in names:
            i = position[name]
            mean, squares = _mean_and_inner(rows, name, users, codes)
            values[i, row], n[i, row], inner[i, row], level[i, row] = mean, users, squares, codes
    # a code of each place, seen at one of its users
    first = np.full(n_places, -1, dtype=np.int64)
    first[place] = np.arange(len(place))
    at_row = np.repeat(first, n_slots)
    made = [
        Attribute(one.name, one.codes[at_row], one.values, 0, one.binning) for one in attributes
    ]
    everyone = np.ones(shape[1], dtype=bool)
    measured = Measured(tuple(metrics.values()), values, everyone, everyone, Alike(n, inner, level))
    return made, measured


def _mean_and_inner(
    rows: pl.DataFrame, name: str, users: FloatArray, level: IntArray
) -> tuple[FloatArray, FloatArray]:
    """The mean of each row, NaN where undefined, and the squares around it."""
    total = rows[name].to_numpy().astype(np.float64)
    squares = rows[squares_column(name)].to_numpy().astype(np.float64)
    mean = total / users
    inner = np.nan_to_num(squares - total * mean)
    inner = np.where(inner > _SAME * np.nan_to_num(squares), inner, 0.0)
    # users of a level with one value have it to the last digit, however many were added up
    is_known = ~np.isnan(mean)
    n, sums, spread = (
        np.bincount(level[is_known], weights=one[is_known], minlength=level.max() + 1)
        for one in (users, total, inner)
    )
    lowest, highest = np.full((2, len(n)), np.nan)
    np.fmin.at(lowest, level, mean)
    np.fmax.at(highest, level, mean)
    is_one = (spread == 0) & (highest - lowest <= _SAME * np.abs(highest))
    of_level = sums / np.maximum(n, 1.0)
    return np.where(is_known & is_one[level], of_level[level], mean), inner


_READERS: dict[str, Callable[[str], Value]] = {
    "true or false": lambda text: {"true": True, "false": False}.get(text.lower(), text),
    "whole number": int,
    "number": float,
}
"""How texts are read as values of a kind."""


def _attribute(texts: pl.Series, about: AttributeInfo) -> Attribute:
    """The codes of rows with these texts, values in their natural order."""

    def order(text: str) -> tuple[float, str]:
        """That of numbers, where texts are or begin with one."""
        if about.kind == "text" and about.binning is None:
            return 0.0, text
        found = re.search(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", text)
        number = float(found[0]) if found else np.inf
        return -np.inf if text.startswith("<") else number, text

    def value(text: str) -> Value:
        try:
            return text if text == MISSING else _READERS.get(about.kind, str)(text)
        except ValueError:
            return text

    distinct = {*texts}
    ordered = [*sorted(distinct - {MISSING}, key=order), *(distinct & {MISSING})]
    codes = texts.cast(pl.Enum(ordered)).to_physical().to_numpy().astype(np.int32)
    return Attribute(texts.name, codes, tuple(map(value, ordered)), 0, about.binning)


def _with_missing(attribute: Attribute, n_users: IntArray, is_further: bool) -> Attribute:
    """The same with how many users it is unknown of."""
    if MISSING not in attribute.values:
        return attribute
    is_missing = attribute.codes == attribute.values.index(MISSING)
    n_missing = int(n_users[is_missing].sum())
    note = (
        f"attribute '{attribute.name}' is missing for {n_missing:,} of {n_users.sum():,} users; "
        f"they form the value '{MISSING}'"
    )
    return replace(attribute, n_missing=n_missing, warnings=() if is_further else (note,))


def _outcomes(info: CountsInfo, counts: Counts) -> list[MissingOutcome]:
    """Who is missing, each as a metric of ones and zeros."""
    outcomes = []
    for name, about in info.missing.items():
        families: _Families = {(SHARE,): _family(name, [*info.attributes], counts)}
        share = {SHARE: missing_share(about.kind, about.metrics)}
        attributes, measured = _in_rows(families, info.attributes, share)
        assert measured.alike is not None
        outcomes.append(
            MissingOutcome(
                about.kind,
                about.metrics,
                measured,
                tuple(attributes),
                measured.alike.n[0].astype(np.int64),
                about.counts_as_zero,
                about.is_no_fault,
            )
        )
    return outcomes
