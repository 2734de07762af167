"""Levels on which users are counted: of one metric, cut, or of a family of several together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.files import file_bytes
from fairrec.core.options import Blank, spell
from fairrec.core.settings import parse_toml
from fairrec.groups.cells import number_combinations
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import Column, Measured

N_STEPS = 64
"""Equal steps between the bounds of a metric."""
_FINER = 2.0 ** (-np.arange(1, 41) / 4)
"""Where a step that begins at a bound or at 0 is cut again: what most users get from a large
catalogue is far below one step, and would all be on one level."""
N_OWN = 64
"""Levels that suit some users, beside those of both ends."""
_ENDS = 2.0 ** -np.arange(6, 13)
"""Shares of users at both ends: a small group that is worse than all others is there."""
_DIGITS = 12
MOST_TOGETHER = 256
"""Levels up to which metrics are counted together; more would make permutations costly."""
ENOUGH, _LEAST = 0.95, 0.5
"""The share of a score that is left on levels: what is worth a note, and what is refused."""


def levels_of(metrics: Sequence[MetricAtK], own: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """The edges of each metric: those of a file, or steps between its bounds.

    Steps are fixed by the metric alone, so that levels of different parts are the same. A metric
    without bounds has none.
    """
    for name in own:
        if name not in (names := [metric.name for metric in metrics]):
            raise InputError(f"{spell('levels')}: {unknown_name('metric', name, names)}")
    edges: dict[str, FloatArray] = {}
    for metric in metrics:
        if metric.name in own:
            edges[metric.name] = own[metric.name]
        elif has_steps(metric):
            edges[metric.name] = steps_between(*(metric.metric.bounds or (0.0, 1.0)))
    return edges


def has_steps(metric: MetricAtK) -> bool:
    """Whether it has bounds between which it can be cut."""
    return metric.metric.bounds is not None and bool(np.isfinite(metric.metric.bounds).all())


def steps_between(low: float, high: float) -> FloatArray:
    """The edges of equal steps, finer at both bounds, or at 0 where that is between them.

    The highest value is on a level of its own.
    """
    if low < 0 < high:
        side = _finer_from_zero(N_STEPS // 2)
        return np.concatenate([low * side[::-1], [0.0], high * side])
    from_low = _finer_from_zero(N_STEPS)
    return low + (high - low) * np.unique(np.concatenate([from_low, 1 - _FINER / N_STEPS]))


def _finer_from_zero(n_steps: int) -> FloatArray:
    """The edges of `n_steps` steps from 0 to 1, of which the first is cut again."""
    return np.concatenate([_FINER[::-1] / n_steps, np.arange(1, n_steps + 1) / n_steps])


def find_level(values: FloatArray, edges: FloatArray) -> IntArray:
    """The level of each value: from an edge on it is the next one."""
    return np.searchsorted(edges, values, side="right").astype(np.int64)


def kept_on(edges: FloatArray, values: FloatArray) -> float:
    """The share of the standard deviation that is left where everyone has the mean of the level."""
    known = values[~np.isnan(values)]
    if not len(known) or known.min() == known.max():
        return 1.0
    level = find_level(known, edges)
    mean = np.bincount(level, weights=known) / np.maximum(np.bincount(level), 1)
    return float(mean[level].std() / known.std())


def suggested_levels(values: FloatArray) -> list[float]:
    """Edges between which there are about as many of these values or as much of their spread.

    To twelve digits. A long tail of few users has most of the spread, and is cut for that; both
    ends are cut further, because a small group that is worse than all others is there as a whole.
    """
    known = np.sort(values[~np.isnan(values)])
    if not len(known):
        return []
    shares = np.arange(1, N_OWN // 2) / (N_OWN // 2)
    spread = np.cumsum((known - np.median(known)) ** 2)
    by_users = np.quantile(known, [*shares, *_ENDS, *(1 - _ENDS)])
    inner = [*by_users, *known[np.searchsorted(spread, spread[-1] * shares)]]
    rounded = {float(f"{edge:.{_DIGITS}g}") for edge in inner}
    return sorted(edge for edge in rounded if edge > known[0])


def levels_text(edges: Mapping[str, Sequence[float]]) -> str:
    """As a file has them."""
    lines = [f'"{name}" = [{", ".join(map(repr, row))}]' for name, row in edges.items()]
    return "# Edges between the levels on which users are counted, for each metric\n" + "\n".join(
        [*lines, ""]
    )


def read_levels(file: Path | None) -> dict[str, FloatArray]:
    """The edges in a file; empty where none is named."""
    if file is None:
        return {}
    where = plain(file, 300)
    found = {}
    for name, edges in parse_toml(file_bytes(file), where).items():
        row = np.empty(0)
        with suppress(TypeError, ValueError, OverflowError):
            row = np.array(edges, dtype=np.float64)
        found[name] = row
        is_rising = row.ndim == 1 and len(row) > 0 and bool((np.diff(row) > 0).all())
        if not is_rising or not np.isfinite(row).all():
            raise InputError(
                f"{where}: {plain(name)} has no rising numbers. Write the edges between its "
                "levels: revenue = [1, 10, 100]"
            )
    return found


class LevelsError(InputError):
    """Levels that users cannot be counted on."""


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics that are counted together.

    Parameters
    ----------
    metrics : their positions
    level : (n_users,), position in `labels`
    labels : the same text for the same level in any part; null where nothing is defined
    is_cut : whether values on one level may differ
    """

    metrics: tuple[int, ...]
    level: IntArray
    labels: pl.Series
    is_cut: bool


def find_families(measured: Measured, edges: Mapping[str, FloatArray]) -> tuple[Family, ...]:
    """Those of labels together where they have few values in all, and each other one by itself.

    With one relevant item, its rank and the length of the list determine all of them. Counted
    together, they are permuted together, so that a finding is not paid for by each.
    """
    together = [
        i
        for i, metric in enumerate(measured.metrics)
        if "labels" in metric.metric.needs and has_steps(metric)
    ]
    family = _joint(together, measured) if len(together) > 1 else None
    alone = [i for i in range(len(measured.metrics)) if family is None or i not in together]
    cut = tuple(_alone(i, measured, edges) for i in alone)
    return cut if family is None else (family, *cut)


def _joint(metrics: list[int], measured: Measured) -> Family | None:
    codes, n_values = [], []
    for i in metrics:
        distinct, code = np.unique(measured.values[i], return_inverse=True)
        if len(distinct) > MOST_TOGETHER:
            return None
        codes.append(code.astype(np.int32))
        n_values.append(len(distinct))
    first, level = number_combinations(codes, n_values)
    if len(first) > MOST_TOGETHER:
        return None
    labels = [exact_label(row) for row in measured.values[metrics][:, first].T]
    texts = pl.Series(labels, dtype=pl.String)
    return Family(tuple(metrics), level.astype(np.int64), texts, is_cut=False)


def exact_label(values: FloatArray) -> str | None:
    """The level of users who have these values; null where none is defined."""
    if np.isnan(values).all():
        return None
    return "|".join("" if np.isnan(value) else repr(float(value)) for value in values)


def values_of(labels: pl.Series, at: int) -> FloatArray:
    """The values behind exact labels, of the metric at one place of its family."""
    texts = labels.str.split("|").list.get(at, null_on_oob=True)
    return texts.cast(pl.Float64, strict=False).to_numpy().astype(np.float64)


def _alone(i: int, measured: Measured, edges: Mapping[str, FloatArray]) -> Family:
    metric, values = measured.metrics[i], measured.values[i]
    if metric.name in edges:
        cuts = edges[metric.name]
        # the one after the last stands for no value
        level = np.where(np.isnan(values), len(cuts) + 1, find_level(values, cuts))
        labels = [*map(str, range(len(cuts) + 1)), None]
        return Family((i,), level, pl.Series(labels, dtype=pl.String), is_cut=True)
    exact = _joint([i], measured)
    if exact is None:
        raise LevelsError(
            f"{plain(metric.name)} has more than {MOST_TOGETHER} different values and no bounds. "
            "Say where to cut it in a file that all parts share: fairrec count with "
            f"{spell('levels', Blank('FILE'))}. One is made of a part of the users by "
            f"{spell('make_levels', Blank('FILE'))}"
        )
    return exact


def notes_on_levels(measured: Measured, where: str) -> list[str]:
    """Notes on metrics whose levels lose spread; an error where a test could find nothing.

    A test statistic is a difference over the standard deviation, of which levels keep a share.
    """
    notes, on_levels = [], measured.on_levels
    for i, metric in enumerate(measured.metrics):
        whole, left = (_spread(one.column(i)) for one in (measured, on_levels))
        if whole == 0 or left >= ENOUGH * whole:
            continue
        note = (
            f"the levels of '{plain(metric.name)}' keep {left / whole:.0%} of its standard "
            f"deviation; for more, count with {spell('levels', Blank('FILE'))}, made by "
            f"{spell('make_levels', Blank('FILE'))}"
        )
        if left < _LEAST * whole:
            raise LevelsError(f"{where}: {note}. This is too little to test groups by.")
        notes.append(note)
    return notes


def _spread(column: Column) -> float:
    """The standard deviation of all users."""
    around = (column.filled - column.mean) ** 2 * column.n + column.inner * (column.n > 0)
    return math.sqrt(float(around.sum()) / max(1.0, column.n_users))
