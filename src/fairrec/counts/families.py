"""Families: metrics that are counted together, and the level of each user in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError, plain
from fairrec.core.options import Blank, spelled
from fairrec.counts.levels import has_steps, level_of
from fairrec.groups.cells import number_combinations
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import Measured

MOST_TOGETHER = 256
"""Levels up to which metrics are counted together; more would make permutations costly."""


class LevelsError(InputError):
    """Levels that users cannot be counted on."""


def finer_levels() -> str:
    """How to say where a metric is cut."""
    return (
        "Say where to cut it in a file that all parts share: fairrec count with "
        f"{spelled('levels', Blank('FILE'))}. One is made of a part of the users by "
        f"{spelled('make_levels', Blank('FILE'))}"
    )


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


def families_of(measured: Measured, edges: Mapping[str, FloatArray]) -> tuple[Family, ...]:
    """Those of labels together where they have few values in all, and each other one by itself.

    With one relevant item its rank and the length of the list tell all of them. Counted together,
    they are permuted together, so that a finding is not paid for by each.
    """
    together = [i for i, metric in enumerate(measured.metrics) if _is_of_labels(metric)]
    family = _joint(together, measured) if len(together) > 1 else None
    alone = [i for i in range(len(measured.metrics)) if family is None or i not in together]
    cut = tuple(_alone(i, measured, edges) for i in alone)
    return cut if family is None else (family, *cut)


def _is_of_labels(metric: MetricAtK) -> bool:
    return "labels" in metric.metric.needs and has_steps(metric)


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
        level = np.where(np.isnan(values), len(cuts) + 1, level_of(values, cuts))
        labels = [*map(str, range(len(cuts) + 1)), None]
        return Family((i,), level, pl.Series(labels, dtype=pl.String), is_cut=True)
    exact = _joint([i], measured)
    if exact is None:
        raise LevelsError(
            f"{plain(metric.name)} has more than {MOST_TOGETHER} different values and no bounds, "
            f"so nobody knows where to cut it. {finer_levels()}"
        )
    return exact
