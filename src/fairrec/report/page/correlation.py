"""Metrics against each other over the full combinations."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import plain
from fairrec.report.page.chart_view import Correlation, CorrelationCell
from fairrec.report.page.drawn_metrics import drawn_metrics
from fairrec.report.page.groups import PageGroups
from fairrec.report.page.view import PageLimits
from fairrec.report.words import MINUS, plural


def metric_correlation(groups: PageGroups, limits: PageLimits) -> Correlation | None:
    """Pearson's correlation of every two metrics over the full combinations known for both."""
    names = [*drawn_metrics(groups.summary, limits)]
    if len(names) < 2:
        return None
    values = groups.frame.full_values(names)
    is_known = ~np.isnan(values)
    if is_known.sum(axis=1).min() < 3:
        return None
    cells = []
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            both = is_known[i] & is_known[j]
            found = _pearson(values[i, both], values[j, both])
            text = "-" if found is None else f"{found:+.2f}".replace("-", MINUS)
            cells.append(CorrelationCell(plain(first), plain(second), found, text))
    n_groups = int(is_known.any(axis=0).sum())
    return Correlation(
        metrics=tuple(plain(name) for name in names),
        cells=tuple(cells),
        sentence=(
            f"Pearson's correlation of group values over {plural(n_groups, 'full combination')}: "
            "near +1, groups that are high in one are high in the other; near \u22121, low."
        ),
    )


def _pearson(one: FloatArray, other: FloatArray) -> float | None:
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return round(float(np.corrcoef(one, other)[0, 1]), 4)
