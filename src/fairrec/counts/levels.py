"""Levels: where the values of a metric are cut, so that users on one level can be counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.files import file_bytes
from fairrec.core.options import spelled
from fairrec.core.settings import MOST_BYTES, parsed_toml
from fairrec.metrics import MetricAtK

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
_LARGEST = 1e60


def levels_of(metrics: Sequence[MetricAtK], own: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """The edges of each metric: those of a file, or steps between its bounds.

    Steps are fixed by the metric alone, so that levels of different parts are the same. A metric
    without bounds has none.
    """
    for name in own:
        if name not in (names := [metric.name for metric in metrics]):
            raise InputError(f"{spelled('levels')}: {unknown_name('metric', name, names)}")
    edges: dict[str, FloatArray] = {}
    for metric in metrics:
        if metric.name in own:
            edges[metric.name] = own[metric.name]
        elif has_steps(metric):
            edges[metric.name] = steps_between(*(metric.metric.bounds or (0.0, 1.0)))
    return edges


def has_steps(metric: MetricAtK) -> bool:
    """Whether its bounds tell where to cut it."""
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
    """The edges of so many steps from 0 to 1, of which the first is cut again."""
    return np.concatenate([_FINER[::-1] / n_steps, np.arange(1, n_steps + 1) / n_steps])


def level_of(values: FloatArray, edges: FloatArray) -> IntArray:
    """The level of each value: from an edge on it is the next one."""
    return np.searchsorted(edges, values, side="right").astype(np.int64)


def kept_on(edges: FloatArray, values: FloatArray) -> float:
    """The share of the standard deviation that is left where everyone has the mean of the level."""
    known = values[~np.isnan(values)]
    if not len(known) or known.min() == known.max():
        return 1.0
    level = level_of(known, edges)
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
    content = parsed_toml(file_bytes(file, MOST_BYTES + 1), where)
    found = {}
    for name, edges in content.items():
        is_rising = isinstance(edges, list) and all(
            isinstance(edge, int | float) and not isinstance(edge, bool) and abs(edge) < _LARGEST
            for edge in edges
        )
        found[name] = np.array(edges if is_rising else [], dtype=np.float64)
        if not found[name].size or not (np.isfinite(found[name]).all() and _rises(found[name])):
            raise InputError(
                f"{where}: {plain(name)} has no rising numbers. Write the edges between its "
                f"levels: revenue = [1, 10, 100]"
            )
    if not found:
        raise InputError(f"{where}: names no metric. Write: revenue = [1, 10, 100]")
    return found


def _rises(edges: FloatArray) -> bool:
    return bool((np.diff(edges) > 0).all())
