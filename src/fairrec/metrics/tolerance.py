"""The tolerance beside the metrics that are audited: their names, and amounts they can have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from fairrec.core.errors import FairRecError, InputError, plain, unknown_name
from fairrec.core.options import Blank, spell
from fairrec.core.tolerance import Amount, Tolerance
from fairrec.metrics.measured import Measured
from fairrec.metrics.parsing import MetricAtK, parse_metric, side_of

_MOST_PERCENT = 100


def parse_tolerance(tolerance: Tolerance | None, wanted: Sequence[MetricAtK]) -> Tolerance | None:
    """The same by the names that the metrics have in the result.

    A name of no audited metric is an error, and so is an amount that does not fit its bounds.
    """
    if tolerance is None:
        return None
    found = by_name(tolerance, [metric.name for metric in wanted])
    for metric in wanted:
        refuse_unfit(found, metric, *(metric.metric.bounds or (0.0, math.inf)))
    return found


def by_name(tolerance: Tolerance, names: Sequence[str]) -> Tolerance:
    """The same by the names that metrics have in a result; other names are errors."""
    by_metric: dict[str, Amount] = {}
    for asked, amount in tolerance.by_metric:
        name = asked
        if asked not in names:
            # as metrics are named: NDCG@10 is ndcg@10, and ndcg has its usual cut-off
            with suppress(FairRecError):
                name = parse_metric(asked, side_of(asked)).name
        if name not in names:
            raise InputError(
                f"{spell('tolerance')}: {unknown_name('audited metric', asked, names)}"
            )
        if name in by_metric:
            raise InputError(f"{spell('tolerance')}: '{plain(name)}' is named twice.")
        by_metric[name] = amount
    return Tolerance(tuple(by_metric.items()), tolerance.others)


def refuse_unfit(tolerance: Tolerance | None, metric: MetricAtK, low: float, high: float) -> None:
    """An error for an amount as large as the range of values, or a share of a mean of both signs.

    Parameters
    ----------
    low, high : the lowest and the highest value, as far as they are known
    """
    amount = None if tolerance is None else tolerance.amount(metric.name)
    if amount is None:
        return
    name, option = plain(metric.name), spell("tolerance", str(amount))
    if amount.is_share and low < 0:
        raise InputError(
            f"{option}: {name} has values below 0 (such as {low:.4g}), so a share of its mean has "
            f"no meaning. Give an amount: {spell('tolerance', {name: Blank('AMOUNT')})}"
        )
    low, high = metric.metric.bounds or (low, high)
    if not amount.is_share and 0 < high - low <= amount.size:
        meant = f" Was {amount}% of the mean meant?" if amount.size <= _MOST_PERCENT else ""
        raise InputError(
            f"{option}: {name} runs from {low:.4g} to {high:.4g}, so no group can be worse by "
            f"more. Give an amount below {high - low:.4g}.{meant}"
        )


def refuse_unfit_to(tolerance: Tolerance | None, measured: Measured) -> None:
    """The same for all that was measured; of some users alone only what they cannot hide."""
    for i, metric in enumerate(measured.metrics):
        known = measured.column(i).known
        low = float(known.min(initial=math.inf))
        high = float(known.max(initial=-math.inf)) if measured.is_complete else math.inf
        refuse_unfit(tolerance, metric, low, high)
