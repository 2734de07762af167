"""Counts of different users, brought to the same labels and levels, and added."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from hashlib import sha256
from operator import add

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError, listed, plain
from fairrec.core.options import spell
from fairrec.counts.levels import exact_label, find_level, steps_between, values_of
from fairrec.counts.table import (
    FAMILY,
    LEVEL,
    USERS,
    AttributeInfo,
    Counts,
    CountsInfo,
    MetricInfo,
    OutcomeInfo,
    ValueKind,
    family_name,
    squares_column,
)
from fairrec.inputs.binning import as_interval
from fairrec.inputs.notes import CHECK_FIRST
from fairrec.inputs.order import TiedLists
from fairrec.inputs.users import MISSING

_ENOUGH_USERS = 100
"""The counts of fewer may be alike by chance."""
_ROUNDING = 1e-9
"""A mean of users with one value may be off by so much."""


def with_same_labels(counts: Sequence[Counts]) -> list[Counts]:
    """The same, where a value that is called in two ways has one name.

    A bin is `20-29` where all numbers of a part are whole and `[20, 30)` where one is not; a number
    is `1` among whole ones and `1.0` among others; `true` is `True` where it is read as text.
    """
    found = [*counts]
    for name in counts[0].keys:
        texts = [_known(one, name) for one in found]
        abouts = [_about(one, name) for one in found]
        kind = _common_kind(
            [about.kind for about, known in zip(abouts, texts, strict=True) if known]
        )
        labels = {text: text for known in texts for text in known}
        if any(about.binning for about in abouts):
            intervals = {text: as_interval(text) for text in labels}
            if len({*intervals.values()}) < len(intervals):
                labels = intervals
        elif kind == "number":
            labels = {text: _as_number(text) for text in labels}
        elif any(about.kind == "true or false" for about in abouts):
            labels |= {text: text.capitalize() for text in labels if text in ("true", "false")}
        found = [_renamed(one, name, labels, kind) for one in found]
    return found


def _as_number(text: str) -> str:
    """As numbers are written that are not all whole; other texts as they are."""
    try:
        return str(float(text))
    except ValueError:
        return text


def _about(counts: Counts, name: str) -> AttributeInfo:
    return {**counts.about.attributes, **counts.about.circumstances}[name]


def _known(counts: Counts, name: str) -> set[str]:
    texts = counts.rows[name].cast(pl.String).drop_nulls().unique().to_list()
    return {text for text in texts if text != MISSING}


def _common_kind(kinds: Sequence[ValueKind]) -> ValueKind:
    """What values are in all parts that have some."""
    if len({*kinds}) == 1:
        return kinds[0]
    return "number" if kinds and {*kinds} == {"whole number", "number"} else "text"


def _renamed(counts: Counts, name: str, labels: dict[str, str], kind: ValueKind) -> Counts:
    changed = {old: new for old, new in labels.items() if old != new}
    rows = counts.rows.with_columns(pl.col(name).cast(pl.String).replace(changed))
    update = {}
    for where in ("attributes", "circumstances"):
        keys = getattr(counts.about, where)
        if name in keys:
            update[where] = {**keys, name: keys[name].model_copy(update={"kind": kind})}
    return replace(counts, rows=rows, info=counts.about.model_copy(update=update))


def split_families(counts: Counts, edges: Mapping[str, Sequence[float]] | None = None) -> Counts:
    """The same with a family for each metric.

    Users of a level of several metrics have the same values, which tell their levels in each.

    Parameters
    ----------
    edges : between the levels of metrics that are counted by their values here, and not elsewhere
    """
    info = counts.about
    asked = edges or {}
    frames = [counts.rows.filter(pl.col(FAMILY).is_in([*info.missing]))]
    levels: dict[str, tuple[float, ...]] = {}
    for family in info.families:
        rows = counts.rows.filter(pl.col(FAMILY) == family_name(family))
        for name in family:
            cuts = asked.get(name, info.levels.get(name))
            bounds = info.metrics[name].bounds
            if cuts is None and bounds is not None and np.isfinite(bounds).all():
                cuts = steps_between(*bounds).tolist()
            value = None
            if name not in info.levels:
                value = _value_of_level(rows, name, family)
            if value is not None:
                frames.append(_alone(rows, name, family, value, cuts))
            elif len(family) > 1 or (cuts is not None and _is_other(name, cuts, counts, asked)):
                raise InputError(
                    f"{counts.where}: users of one level differ in '{plain(name)}', so they cannot "
                    "be put on other levels. Count all parts on the same levels."
                )
            else:
                frames.append(rows)
                cuts = info.levels.get(name)
            if cuts is not None:
                levels[name] = tuple(cuts)
    parted = pl.concat(frames, how="diagonal_relaxed").select(counts.rows.columns)
    families = tuple((name,) for family in info.families for name in family)
    said = info.model_copy(update={"families": families, "levels": levels})
    return replace(counts, rows=parted, info=said).summed()


def _is_other(
    name: str, cuts: Sequence[float], counts: Counts, asked: Mapping[str, Sequence[float]]
) -> bool:
    """Whether levels are asked for that are not those of the counts."""
    return name in asked and tuple(cuts) != counts.about.levels.get(name)


def _alone(
    rows: pl.DataFrame,
    name: str,
    family: tuple[str, ...],
    value: FloatArray,
    cuts: Sequence[float] | None,
) -> pl.DataFrame:
    """The rows of one metric of a family.

    Parameters
    ----------
    value : (n_rows,), of the users of each row
    """
    if cuts is None:
        labels = [exact_label(np.array([one])) for one in value]
    else:
        level = find_level(np.nan_to_num(value), np.array(cuts))
        labels = [None if np.isnan(v) else str(at) for v, at in zip(value, level, strict=True)]
    others = [n for one in family if one != name for n in (one, squares_column(one))]
    return rows.with_columns(
        pl.lit(name).alias(FAMILY),
        pl.Series(LEVEL, labels, pl.String),
        *(pl.lit(None, pl.Float64).alias(other) for other in others),
    )


def _value_of_level(rows: pl.DataFrame, name: str, family: tuple[str, ...]) -> FloatArray | None:
    """(n_rows,), the value of all users on a row's level, NaN where undefined.

    By its label where that says it, and else by the sums: another tool may call levels anything.
    None where users on one level differ.
    """
    names = (USERS, name, squares_column(name))
    sums = rows.select(pl.col(one).sum().over(LEVEL) for one in names)
    n, total, squares = (sums[one].to_numpy().astype(np.float64) for one in names)
    mean = np.where(rows[name].is_not_null().to_numpy(), total / n, np.nan)
    if (squares - total * mean > _ROUNDING * squares).any():
        return None
    said = values_of(rows[LEVEL], family.index(name))
    return np.where(np.abs(said - mean) <= _ROUNDING * np.abs(mean), said, mean)


def merged(
    counts: Sequence[Counts], *, disjoint: bool = False, is_one_table: bool = False
) -> Counts:
    """The counts of all parts.

    Parameters
    ----------
    disjoint : no user is in two parts, although they do not say so
    is_one_table : quantiles are those of all users, because the parts are of one table
    """
    if len(counts) == 1:
        return counts[0]
    if not disjoint:
        _refuse_overlap(counts)
    copies = None if is_one_table else _find_copies(counts)
    if copies is not None and not disjoint:
        raise InputError(
            f"{' and '.join(copies)}: have the same counts in every row, so they are of the same "
            f"users, who would be counted twice. {spell('part', '3/16')} only names a part: count "
            "each part from a table of its own users. If no user is in both, say so: "
            f"{spell('disjoint', True)}"
        )
    infos = [one.about for one in counts]
    for one, info in zip(counts[1:], infos[1:], strict=True):
        _refuse_others(infos[0], info, counts[0].where, one.where)
        if not is_one_table:
            _refuse_quantiles(info, f"{counts[0].where} and {one.where}")
    if any({*info.families} != {*infos[0].families} for info in infos) or any(
        info.levels.keys() != infos[0].levels.keys() for info in infos
    ):
        counts = [split_families(one) for one in counts]
        infos = [one.about for one in counts]
    cut = [info.levels.keys() for info in infos]
    if any(names != cut[0] for names in cut):
        # values counted as they are in one part and on levels in another
        edges = {name: row for info in infos for name, row in info.levels.items()}
        counts = [split_families(one, edges) for one in counts]
        infos = [one.about for one in counts]
    counts = with_same_labels(counts)
    infos = [one.about for one in counts]
    rows = pl.concat([one.rows for one in counts], how="diagonal_relaxed")
    where = f"{counts[0].where} and {len(counts) - 1:,} more"
    added = _added(infos)
    notes = [] if is_one_table else _note_missing_parts(added.parts)
    if copies is not None:
        notes.append(
            f"{CHECK_FIRST}{' and '.join(copies)} have the same counts in every row. If they are "
            "of the same users, these are counted twice: leave one out"
        )
    added = added.model_copy(update={"warnings": (*notes, *added.warnings)})
    return Counts(rows, added, where).summed()


def _refuse_overlap(counts: Sequence[Counts]) -> None:
    """Users who are counted twice make chance look smaller than it is."""
    seen: dict[str, str] = {}
    for one in counts:
        parts = () if one.info is None else one.info.parts
        if not parts:
            raise InputError(
                f"{one.where}: does not say whose counts it has, so a user may be in two of these "
                "files and be counted twice. Count again and name the part "
                f"({spell('part', 'europe')}, or {spell('part', '3/16')} of 16 parts by a hash "
                f"of ids). If no user is in two of them, say so: {spell('disjoint', True)}"
            )
        for part in parts:
            if other := next((name for name in seen if _overlap(name, part)), None):
                raise InputError(
                    f"{seen[other]} and {one.where}: both have users of the part "
                    f"'{plain(part)}', who would be counted twice. Leave one out. If no user is in "
                    f"both, say so: {spell('disjoint', True)}"
                )
        seen |= dict.fromkeys(parts, one.where)


def _find_copies(counts: Sequence[Counts]) -> tuple[str, str] | None:
    """Two parts whose counts are the same to the last digit."""
    seen: dict[str, str] = {}
    for one in counts:
        rows = one.rows.select(sorted(one.rows.columns))
        content = sha256(rows.sort(rows.columns).write_csv().encode()).hexdigest()
        other = seen.setdefault(content, one.where)
        if other != one.where and rows[USERS].sum() >= _ENOUGH_USERS:
            return other, one.where
    return None


def _note_missing_parts(parts: Iterable[str]) -> list[str]:
    """A note where parts are ranges of a hash that leave some users out."""
    ranges = [_range(part) for part in parts]
    missing = 1 - sum(found[1] - found[0] for found in ranges if found is not None)
    if None in ranges or missing <= 0:
        return []
    return [
        f"{CHECK_FIRST}the parts hold {float(1 - missing):.0%} of users by their names "
        f"({', '.join(map(plain, parts))}). If the others exist, add their counts: the audit says "
        "nothing about them"
    ]


def _overlap(one: str, other: str) -> bool:
    """Whether two parts may share users: the same name, or ranges of a hash that overlap.

    >>> _overlap("1/4", "1/2"), _overlap("1/4", "2/2"), _overlap("europe", "asia")
    (True, False, False)
    >>> _overlap("Europe", "europe ")
    True
    """
    first, second = _range(one), _range(other)
    if first is None or second is None:
        # a range of everyone and a region may share users
        is_same = one.strip().casefold() == other.strip().casefold()
        return is_same or (first is None) != (second is None)
    return first[0] < second[1] and second[0] < first[1]


def _range(part: str) -> tuple[Fraction, Fraction] | None:
    """`3/16` is the third of 16 equal ranges of a hash."""
    at, slash, n = part.partition("/")
    if not (slash and at.isdecimal() and n.isdecimal() and 1 <= int(at) <= int(n)):
        return None
    return Fraction(int(at) - 1, int(n)), Fraction(int(at), int(n))


def _refuse_others(first: CountsInfo, other: CountsInfo, where: str, there: str) -> None:
    """Counts that were not made alike cannot be added."""
    both = f"{where} and {there}"
    for called, mine, its in (
        ("attributes", first.by, other.by),
        ("circumstances", first.given, other.given),
        ("metrics", tuple(sorted(first.metrics)), tuple(sorted(other.metrics))),
        # another tool does not say it
        ("tables", _tables(first, other), _tables(other, first)),
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
            "parts, or do not make an attribute of each value: NAME:first or NAME:whole."
        )
    bins = {**first.attributes, **first.circumstances}
    for name, about in {**other.attributes, **other.circumstances}.items():
        if bins[name].binning != about.binning:
            raise InputError(f"{both}: '{plain(name)}' has different bins. Count them alike.")
    for name, edges in other.levels.items():
        if name in first.levels and first.levels[name] != edges:
            raise InputError(
                f"{both}: '{plain(name)}' is cut at different levels. Count them with one file: "
                f"{spell('levels', 'levels.toml')}"
            )
    for name, metric in other.metrics.items():
        mine_, its_ = (_meaning(one) for one in (first.metrics[name], metric))
        if mine_ != its_:
            raise InputError(
                f"{both}: '{plain(name)}' is not the same metric in both (its better end, its "
                "bounds or its definition differs). Count them alike."
            )


def _tables(info: CountsInfo, other: CountsInfo) -> tuple[str, ...]:
    return tuple(filter(None, [info.measured_by or other.measured_by]))


def _refuse_quantiles(info: CountsInfo, both: str) -> None:
    for name, about in {**info.attributes, **info.circumstances}.items():
        if "quantiles" in (about.binning or ""):
            raise InputError(
                f"{both}: '{plain(name)}' is cut at quantiles, which are others in each part. Give "
                f"edges instead, such as {spell('by', f'{name}:18|25|40')}"
            )


def _meaning(metric: MetricInfo) -> tuple[object, ...]:
    return metric.definition, metric.higher_is_better, metric.bounds, metric.ratio_scale


def _added(infos: Sequence[CountsInfo]) -> CountsInfo:
    """What all parts together say of themselves."""
    first = infos[0]
    return first.model_copy(
        update={
            "parts": tuple(part for info in infos for part in info.parts),
            "metrics": {
                name: about.model_copy(
                    update={
                        "n_expected": sum(info.metrics[name].n_expected for info in infos),
                        "n_undefined": sum(info.metrics[name].n_undefined for info in infos),
                    }
                )
                for name, about in first.metrics.items()
            },
            "missing": _added_outcomes(infos),
            "measured_by": next(filter(None, (info.measured_by for info in infos)), None),
            "n_candidates": sum(info.n_candidates for info in infos),
            "ties": _added_ties([info.ties for info in infos]),
            "n_merged": sum(info.n_merged for info in infos),
            "min_shown": max((info.min_shown or 0 for info in infos), default=0) or None,
            "warnings": tuple(dict.fromkeys(note for info in infos for note in info.warnings)),
        }
    )


def _added_ties(ties: Sequence[TiedLists | None]) -> TiedLists | None:
    """None where a part does not say."""
    known = [one for one in ties if one is not None]
    return reduce(add, known) if len(known) == len(ties) else None


def _added_outcomes(infos: Sequence[CountsInfo]) -> dict[str, OutcomeInfo]:
    """A value may be missing for one reason here and for another there."""
    added: dict[str, OutcomeInfo] = {}
    for info in infos:
        for name, about in info.missing.items():
            same = added.setdefault(name, about)
            if same != about:
                kind = about.kind if same.kind == about.kind else "undefined"
                fault = same.is_no_fault and about.is_no_fault
                added[name] = about.model_copy(update={"kind": kind, "is_no_fault": fault})
    return added


def named(counts: Counts, part: str) -> Counts:
    """The same of a part of this name."""
    if re.fullmatch(r"\s*\d+\s*/\s*\d+\s*", part) and _range(part) is None:
        raise InputError(
            f"{spell('part', part)}: is no part of so many. The third of 16 is "
            f"{spell('part', '3/16')}"
        )
    return replace(counts, info=counts.about.model_copy(update={"parts": (part,)}))
