"""Counts of different users, added up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import add

import polars as pl

from fairrec.core.errors import InputError, listed, plain
from fairrec.core.options import spelled
from fairrec.counts.info import CountsInfo, MetricInfo, OutcomeInfo
from fairrec.counts.labels import with_same_labels
from fairrec.counts.splitting import split_families
from fairrec.counts.table import Counts
from fairrec.inputs.order import TiedLists


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
    infos = [_info(one) for one in counts]
    for one, info in zip(counts[1:], infos[1:], strict=True):
        _refuse_others(infos[0], info, counts[0].where, one.where)
        if not is_one_table:
            _refuse_quantiles(info, f"{counts[0].where} and {one.where}")
    if any({*info.families} != {*infos[0].families} for info in infos) or any(
        info.levels.keys() != infos[0].levels.keys() for info in infos
    ):
        counts = [split_families(one) for one in counts]
        infos = [_info(one) for one in counts]
    cut = [info.levels.keys() for info in infos]
    if any(names != cut[0] for names in cut):
        # values counted as they are in one part and on levels in another
        edges = {name: row for info in infos for name, row in info.levels.items()}
        counts = [split_families(one, edges) for one in counts]
        infos = [_info(one) for one in counts]
    counts = with_same_labels(counts)
    infos = [_info(one) for one in counts]
    rows = pl.concat([one.rows for one in counts], how="diagonal_relaxed")
    where = f"{counts[0].where} and {len(counts) - 1:,} more"
    return Counts(rows, _added(infos), where).summed()


def _info(counts: Counts) -> CountsInfo:
    assert counts.info is not None
    return counts.info


def _refuse_overlap(counts: Sequence[Counts]) -> None:
    """Users who are counted twice make chance look smaller than it is."""
    seen: dict[str, str] = {}
    for one in counts:
        parts = () if one.info is None else one.info.parts
        if not parts:
            raise InputError(
                f"{one.where}: does not say whose counts it has, so a user may be in two of these "
                "files and be counted twice. Count again and name the part "
                f"({spelled('part', 'europe')}, or {spelled('part', '3/16')} of 16 parts by a hash "
                f"of ids). If no user is in two of them, say so: {spelled('disjoint', True)}"
            )
        for part in parts:
            if other := next((name for name in seen if _overlap(name, part)), None):
                raise InputError(
                    f"{seen[other]} and {one.where}: both have users of the part "
                    f"'{plain(part)}', who would be counted twice. Leave one out. If no user is in "
                    f"both, say so: {spelled('disjoint', True)}"
                )
        seen |= dict.fromkeys(parts, one.where)


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
                f"{spelled('levels', 'levels.toml')}"
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
                f"edges instead, such as {spelled('by', f'{name}:18|25|40')}"
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
            f"{spelled('part', part)}: is no part of so many. The third of 16 is "
            f"{spelled('part', '3/16')}"
        )
    return replace(counts, info=_info(counts).model_copy(update={"parts": (part,)}))
