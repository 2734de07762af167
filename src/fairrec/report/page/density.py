"""How many groups lie where: hexagons over the size and the value of all of them."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.report.page.chart_view import Density, DensityCell
from fairrec.report.page.groups import short

COLUMNS = 34
ROWS = 21
"""Hexagons across the chart of a metric; about as wide as they are high on a wide screen."""
STRIDE = ROWS + 2
"""More than the number of any row: values on the edge belong to one half outside."""


def density(
    sizes: FloatArray,
    values: FloatArray,
    size_range: tuple[float, float],
    value_range: tuple[float, float],
) -> Density:
    """Every group counted in the one hexagon it lies in.

    Rows of hexagons lie half a hexagon apart from each other, so that the centres of the even and
    of the odd rows are two rectangular lattices; the nearer centre of the two is the one.

    Parameters
    ----------
    sizes, values : (n_groups,)
    size_range, value_range : the axes of the chart; sizes are on a log scale
    """
    first, last = np.log10(size_range)
    low, high = value_range
    width, row = (last - first) / COLUMNS, (high - low) / ROWS
    x, y = (np.log10(sizes) - first) / width, (values - low) / row
    even = np.stack([np.round(x), 2 * np.round(y / 2)])
    odd = np.stack([np.floor(x) + 0.5, 2 * np.floor(y / 2) + 1])
    centres = np.where(_apart(even, x, y) <= _apart(odd, x, y), even, odd)
    # one number a hexagon, as columns lie at halves: numbers are sorted far faster than pairs
    at_half, at_row = (2 * centres[0]).astype(np.int64), centres[1].astype(np.int64)
    cells, counts = np.unique(at_half * STRIDE + at_row, return_counts=True)
    halves, rows = np.divmod(cells, STRIDE)
    return Density(
        cells=tuple(
            DensityCell(short(10 ** (first + width * half / 2)), short(low + row * at), n)
            for half, at, n in zip(halves.tolist(), rows.tolist(), counts.tolist(), strict=True)
        ),
        width=width,
        height=row * 4 / 3,
    )


def _apart(centres: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Squared distance where a hexagon is one wide, and its rows the root of 3/4 apart."""
    across, up = centres[0] - x, centres[1] - y
    squared: FloatArray = across**2 + 0.75 * up**2
    return squared
