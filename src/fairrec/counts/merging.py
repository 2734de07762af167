"""Counts of different users, brought to the same labels and levels, and added."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from hashlib import sha256
from operator import add

import numpy as np
import polars as pl

from fairrec.core.arrays import ROUNDING, FloatArray
from fairrec.core.errors import InputError, listed, plain
from fairrec.core.options import spell
from fairrec.counts.levels import exact_label, find_level, steps_between, values_of
from fairrec.counts.table import (
    FAMILY,
    LEVEL,
    MEANING,
    USERS,
    Counts,
    CountsInfo,
    OutcomeInfo,
    ValueKind,
    family_name,
    squares_column,
    sum_columns,
)
from fairrec.inputs.binning import as_interval
from fairrec.inputs.users import MISSING

_ENOUGH_USERS = 100
"""The counts of fewer may be alike by chance."""


def with_same_labels(counts: Sequence[Counts]) -> list[Counts]:
    """The same, where a value that is called in two ways has one name.

    A bin is `20-29` where all numbers of a part are whole and `[20, 30)` where one is not; a number
    is `1` among whole ones and `1.0` among others; `true` is `True` where it is read as text.
    """
    found = [*counts]
    for name in counts[0].keys:
        texts = [{*one.rows[name].cast(pl.String).drop_nulls()} - {MISSING} for one in found]
        abouts = [one.about.described_keys[name] for one in found]
        kinds = {about.kind for about, known in zip(abouts, texts, strict=True) if known}
        # what values are in all parts that have some
        kind: ValueKind = "number" if kinds == {"whole number", "number"} else "text"
        if len(kinds) == 1:
            (kind,) = kinds
        labels = {text: text for known in texts for text in known}
        if any(about.binning for about in abouts):
            intervals = {text: as_interval(text) for text in labels}
            if len({*intervals.values()}) < len(intervals):
                labels = intervals
        elif kind == "number":
            for text in labels:
                with suppress(ValueError):
                    # as numbers are written that are not all whole
                    labels[text] = str(float(text))
        elif any(about.kind == "true or false" for about in abouts):
            labels |= {text: text.capitalize() for text in labels if text in ("true", "false")}
        for at, one in enumerate(found):
            rows = one.rows.with_columns(pl.col(name).cast(pl.String).replace(labels))
            side = "attributes" if name in one.about.attributes else "covariates"
            about = abouts[at].model_copy(update={"kind": kind})
            update = {side: {**getattr(one.about, side), name: about}}
            found[at] = replace(one, rows=rows, info=one.about.model_copy(update=update))
    return found


def split_families(counts: Counts) -> Counts:
    """The same with a family for each metric.

    Users of a level of several metrics have the same values, and so a level in each of them.
    """
    info = counts.about
    frames = [counts.rows.filter(pl.col(FAMILY).is_in([*info.missing]))]
    levels: dict[str, tuple[float, ...]] = dict(info.levels)
    for family in info.families:
        rows = counts.rows.filter(pl.col(FAMILY) == family_name(family))
        for name in family:
            value = None if name in levels else _value_of_level(rows, name, family)
            if value is not None:
                bounds = info.metrics[name].bounds
                if bounds is not None and np.isfinite(bounds).all():
                    levels[name] = tuple(steps_between(*bounds).tolist())
                frames.append(_alone(rows, name, family, value, levels.get(name)))
            elif len(family) > 1:
                raise InputError(
                    f"{counts.where}: users of one level differ in '{plain(name)}', so they cannot "
                    "be put on other levels. Count all parts on the same levels."
                )
            else:
                frames.append(rows)
    parted = pl.concat(frames, how="diagonal_relaxed").select(counts.rows.columns)
    families = tuple((name,) for family in info.families for name in family)
    split = info.model_copy(update={"families": families, "levels": levels})
    return replace(counts, rows=parted, info=split).summed()


def _alone(
    rows: pl.DataFrame,
    name: str,
    family: tuple[str, ...],
    value: FloatArray,
    cuts: Sequence[float] | None,
) -> pl.DataFrame:
    """The rows of one metric of a family."""
    if cuts is None:
        labels = [exact_label(np.array([one])) for one in value]
    else:
        level = find_level(np.nan_to_num(value), np.array(cuts))
        labels = [None if np.isnan(v) else str(at) for v, at in zip(value, level, strict=True)]
    others = sum_columns(one for one in family if one != name)
    return rows.with_columns(
        pl.lit(name).alias(FAMILY),
        pl.Series(LEVEL, labels, pl.String),
        *(pl.lit(None, pl.Float64).alias(other) for other in others),
    )


def _value_of_level(rows: pl.DataFrame, name: str, family: tuple[str, ...]) -> FloatArray | None:
    """(n_rows,), the value of all users on a row's level, NaN where undefined.

    By its label where that is one, and else by the sums: another tool may call levels anything.
    None where users on one level differ.
    """
    names = (USERS, name, squares_column(name))
    sums = rows.select(pl.col(one).sum().over(LEVEL) for one in names)
    n, total, squares = (sums[one].to_numpy().astype(np.float64) for one in names)
    mean = np.where(rows[name].is_not_null().to_numpy(), total / n, np.nan)
    if (squares - total * mean > ROUNDING * squares).any():
        return None
    labelled = values_of(rows[LEVEL], family.index(name))
    return np.where(np.abs(labelled - mean) <= ROUNDING * np.abs(mean), labelled, mean)


def merged(
    counts: Sequence[Counts], *, disjoint: bool = False, is_one_table: bool = False
) -> Counts:
    """The counts of all parts.

    Parameters
    ----------
    disjoint : no user is in two parts, whatever their names
    is_one_table : quantiles are those of all users, because the parts are of one table
    """
    if len(counts) == 1:
        return counts[0]
    if not disjoint:
        _refuse_overlap(counts)
        _refuse_copies(counts)
    first = counts[0]
    for one in counts[1:]:
        _refuse_others(first, one, is_one_table)
    if any({*one.about.families} != {*first.about.families} for one in counts):
        counts = [split_families(one) for one in counts]
    for one in counts[1:]:
        levels, others = counts[0].about.levels, one.about.levels
        if differ := [
            name for name in {**levels, **others} if levels.get(name) != others.get(name)
        ]:
            raise InputError(
                f"{first.where} and {one.where}: '{plain(differ[0])}' is cut at different levels. "
                f"Count them with one file: {spell('levels', 'levels.toml')}"
            )
    counts = with_same_labels(counts)
    rows = pl.concat([one.rows for one in counts], how="diagonal_relaxed")
    where = f"{first.where} and {len(counts) - 1:,} more"
    return Counts(rows, _add([one.about for one in counts]), where).summed()


def _refuse_overlap(counts: Sequence[Counts]) -> None:
    """Users who are counted twice make chance look smaller than it is."""
    seen: dict[str, str] = {}
    for one in counts:
        parts = () if one.info is None else one.info.parts
        if not parts:
            raise InputError(
                f"{one.where}: does not name its part, so a user may be counted twice. Count again "
                f"with {spell('part', 'europe')}, or {spell('part', '3/16')} of 16 parts by a hash "
                f"of ids. If no user is in two files: {spell('disjoint', True)}"
            )
        for part in parts:
            if other := next((name for name in seen if _overlap(name, part)), None):
                raise InputError(
                    f"{seen[other]} and {one.where}: both have users of the part "
                    f"'{plain(part)}', who would be counted twice. Leave one out. If no user is in "
                    f"both: {spell('disjoint', True)}"
                )
        seen |= dict.fromkeys(parts, one.where)


def _refuse_copies(counts: Sequence[Counts]) -> None:
    """Two parts with the same counts to the last digit are of the same users."""
    seen: dict[str, str] = {}
    for one in counts:
        rows = one.rows.select(sorted(one.rows.columns))
        content = sha256(rows.sort(rows.columns).write_csv().encode()).hexdigest()
        other = seen.setdefault(content, one.where)
        if other != one.where and rows[USERS].sum() >= _ENOUGH_USERS:
            raise InputError(
                f"{other} and {one.where}: have the same counts in every row, so their users would "
                f"be counted twice. {spell('part', '3/16')} only names a part: count each from a "
                f"table of its own. If no user is in both: {spell('disjoint', True)}"
            )


def _overlap(one: str, other: str) -> bool:
    """Whether two parts may share users: the same name, or ranges of a hash that overlap.

    >>> _overlap("1/4", "1/2"), _overlap("1/4", "2/2"), _overlap("europe", "asia")
    (True, False, False)
    """
    first, second = _range(one), _range(other)
    if first is not None and second is not None:
        return first[0] < second[1] and second[0] < first[1]
    # a range of all users and a region may share users
    is_same = one.strip().casefold() == other.strip().casefold()
    return is_same or (first is None) != (second is None)


def _range(part: str) -> tuple[Fraction, Fraction] | None:
    """`3/16` is the third of 16 equal ranges of a hash."""
    at, slash, n = part.partition("/")
    if not (slash and at.isdecimal() and n.isdecimal() and 1 <= int(at) <= int(n)):
        return None
    return Fraction(int(at) - 1, int(n)), Fraction(int(at), int(n))


def _refuse_others(one: Counts, another: Counts, is_one_table: bool) -> None:
    """Counts that were not made alike cannot be added."""
    first, other, both = one.about, another.about, f"{one.where} and {another.where}"
    # another tool does not name the tables of its metrics
    tables = first.measured_by or other.measured_by, other.measured_by or first.measured_by
    for called, mine, its in (
        ("attributes", first.by, other.by),
        ("covariates", first.adjust_for, other.adjust_for),
        ("metrics", tuple(sorted(first.metrics)), tuple(sorted(other.metrics))),
        ("tables", *((str(one),) for one in tables)),
        ("relevant items", (str(first.relevant),), (str(other.relevant),)),
        ("gains of held-out items", (str(first.gain),), (str(other.gain),)),
        ("users without a list", (first.missing_lists,), (other.missing_lists,)),
    ):
        if mine != its:
            raise InputError(
                f"{both}: were counted with different {called}: {listed(mine) or 'none'} and "
                f"{listed(its) or 'none'}. Count them alike."
            )
    for name in first.attributes.keys() ^ other.attributes.keys():
        raise InputError(
            f"{both}: the value of '{plain(name)}' occurs in one of them alone. Count larger "
            "parts, or take the first of several values: NAME:first."
        )
    bins = first.described_keys
    for name, about in other.described_keys.items():
        if bins[name].binning != about.binning:
            raise InputError(f"{both}: '{plain(name)}' has different bins. Count them alike.")
        if "quantiles" in (about.binning or "") and not is_one_table:
            raise InputError(
                f"{both}: '{plain(name)}' is cut at quantiles, which are others in each part. Give "
                f"edges instead, such as {spell('by', f'{name}:18|25|40')}"
            )
    meaning = MEANING - {"called"}
    for name, metric in other.metrics.items():
        if first.metrics[name].model_dump(include=meaning) != metric.model_dump(include=meaning):
            raise InputError(
                f"{both}: '{plain(name)}' is not the same metric in both. Count them alike."
            )


def _add(infos: Sequence[CountsInfo]) -> CountsInfo:
    """The metadata of all parts together."""
    first, ties = infos[0], [info.ties for info in infos]
    missing: dict[str, OutcomeInfo] = {}
    for info in infos:
        for name, about in info.missing.items():
            # a value may be missing for one reason here and for another there
            same = missing.setdefault(name, about)
            kind = about.kind if same.kind == about.kind else "undefined"
            fault = same.is_no_fault and about.is_no_fault
            missing[name] = about.model_copy(update={"kind": kind, "is_no_fault": fault})
    metrics = dict(first.metrics)
    for name, metric in metrics.items():
        parts = [info.metrics[name] for info in infos]
        n_expected = sum(one.n_expected for one in parts)
        n_undefined = sum(one.n_undefined for one in parts)
        update = {"n_expected": n_expected, "n_undefined": n_undefined}
        metrics[name] = metric.model_copy(update=update)
    return first.model_copy(
        update={
            "parts": tuple(part for info in infos for part in info.parts),
            "metrics": metrics,
            "missing": missing,
            "measured_by": next(filter(None, (info.measured_by for info in infos)), None),
            "n_candidates": sum(info.n_candidates for info in infos),
            # unknown where it is for a part
            "ties": reduce(add, ties) if None not in ties else None,
            "n_merged": sum(info.n_merged for info in infos),
            "min_shown": max(info.min_shown or 0 for info in infos) or None,
            "warnings": tuple(dict.fromkeys(note for info in infos for note in info.warnings)),
        }
    )


def name_part(counts: Counts, part: str) -> Counts:
    """The same counts with the name of their part."""
    return replace(counts, info=counts.about.model_copy(update={"parts": (part,)}))
