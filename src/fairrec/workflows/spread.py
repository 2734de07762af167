"""How far users are expected to differ: from a pilot, or as it is assumed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.matters import Matters
from fairrec.core.options import spelled
from fairrec.inputs.tables import Table
from fairrec.inputs.user_lists import read_columns
from fairrec.metrics import MetricAtK
from fairrec.metrics.matters import refuse_unfit
from fairrec.result.plan_schema import Spread
from fairrec.workflows.plan_options import PlanOptions

_ROUNDING = 1.01
"""A standard deviation that is given in two digits may be so much too large."""


def spread_of(
    assumed: PlanOptions,
    pilot: Table | None,
    metrics: Sequence[MetricAtK],
    matters: Matters | None = None,
) -> dict[str, Spread]:
    """Mean and standard deviation of each metric, as far as they are known.

    Parameters
    ----------
    matters : refused where such values make it none
    """
    if pilot is None:
        if assumed.sd is None:
            return {}
        for metric in metrics:
            _refuse_impossible(metric, assumed.mean, assumed.sd)
            refuse_unfit(matters, metric, assumed.mean or 0.0, math.inf)
        return {metric.name: Spread(sd=assumed.sd, mean=assumed.mean) for metric in metrics}
    for metric in metrics:
        if metric.name not in pilot.columns:
            unknown = unknown_name("column", metric.name, pilot.columns)
            raise InputError(f"{pilot.where}: {unknown}{pilot.hint}")
    values = read_columns(pilot, [metric.name for metric in metrics])
    found = {}
    for metric in metrics:
        name, numbers = metric.name, values[metric.name]
        known = numbers[~np.isnan(numbers)]
        sd = float(known.std(ddof=1)) if len(known) > 1 else 0.0
        if not sd:
            raise InputError(
                f"{pilot.where}: '{plain(name)}' is the same for everyone, so it tells nothing "
                f"about how users differ. Give {spelled('sd')} instead."
            )
        refuse_unfit(matters, metric, float(known.min()), float(known.max()))
        found[name] = Spread(sd=float(f"{sd:.6g}"), mean=float(f"{known.mean():.6g}"))
    return found


def _refuse_impossible(metric: MetricAtK, mean: float | None, sd: float) -> None:
    """Refuse a mean and a standard deviation that no values between the bounds have."""
    if metric.metric.bounds is None:
        return
    low, high = metric.metric.bounds
    if mean is None:
        # whatever the mean: half of all values at each end
        if sd > (high - low) / 2 * _ROUNDING:
            raise InputError(
                f"{spelled('sd', sd)}: {metric.name} runs from {low:g} to {high:g}, so it has at "
                f"most {(high - low) / 2:.3g}. Give less, or plan the metric by itself."
            )
        return
    if not low <= mean <= high:
        raise InputError(
            f"{spelled('mean', mean)}: {metric.name} runs from {low:g} to {high:g}. Give a mean "
            "between these, or plan the metric by itself."
        )
    largest = math.sqrt((mean - low) * (high - mean))
    if sd > largest * _ROUNDING:
        raise InputError(
            f"{spelled('sd', sd)}: with a mean of {mean:g}, {metric.name} has at most "
            f"{largest:.3g}. Give less, or plan the metric by itself."
        )
