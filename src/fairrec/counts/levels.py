"""Levels: where the values of a metric are cut, so that users on one level can be counted."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.files import file_bytes
from fairrec.core.options import spelled
from fairrec.metrics import MetricAtK

N_LEVELS = 64
"""Levels between the bounds of a metric; the upper bound is one more."""
ENOUGH = 0.5
"""Share of the spread of a metric that its levels should tell."""
_DIGITS = 12


def levels_of(metrics: Sequence[MetricAtK], own: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """The edges of each metric: those of a file, or equal steps between its bounds.

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
    """The edges of equal steps; the highest value is on a level of its own."""
    return low + (high - low) * np.arange(1, N_LEVELS + 1) / N_LEVELS


def level_of(values: FloatArray, edges: FloatArray) -> IntArray:
    """The level of each value: from an edge on it is the next one."""
    return np.searchsorted(edges, values, side="right").astype(np.int64)


def share_told(values: FloatArray, edges: FloatArray) -> float:
    """The share of the spread of values that lies between the means of their levels.

    >>> share_told(np.array([0.0, 0.2, 0.8, 1.0]), np.array([0.5]))
    0.9411764705882353
    >>> share_told(np.array([0.0, 0.2]), np.array([0.5]))
    0.0
    """
    known = values[~np.isnan(values)]
    if not len(known) or known.min() == known.max():
        return 1.0
    level = level_of(known, edges)
    mean = np.bincount(level, weights=known) / np.maximum(np.bincount(level), 1)
    return float(1 - ((known - mean[level]) ** 2).mean() / known.var())


def suggested_levels(values: FloatArray) -> list[float]:
    """Edges between which there are about as many of these values, to twelve digits."""
    known = values[~np.isnan(values)]
    if not len(known):
        return []
    inner = np.quantile(known, np.arange(1, N_LEVELS) / N_LEVELS)
    rounded = {float(f"{edge:.{_DIGITS}g}") for edge in inner}
    return sorted(edge for edge in rounded if edge > known.min())


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
    try:
        content = tomllib.loads(file_bytes(file, fix="Check the path.").decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{where}: is no TOML file ({plain(error)}).") from error
    found = {}
    for name, edges in content.items():
        is_rising = isinstance(edges, list) and all(
            isinstance(edge, int | float) and not isinstance(edge, bool) for edge in edges
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
