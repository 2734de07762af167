"""Hexagons over size and value."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.report.page.group_charts import density

AXES = (1.0, 1000.0), (-1.0, 2.0)


def scattered(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return 10 ** rng.uniform(0, 3, n), rng.uniform(-1, 2, n)


def test_every_group_is_counted_once():
    drawn = density(*scattered(5000), *AXES)
    assert sum(cell.n for cell in drawn.cells) == 5000
    assert len({(cell.size, cell.value) for cell in drawn.cells}) == len(drawn.cells) > 300


def test_a_group_is_counted_in_the_hexagon_with_the_nearest_centre():
    sizes, values = scattered(400)
    drawn = density(sizes, values, *AXES)
    x, y = np.log10(sizes) / drawn.width, values / drawn.height
    centre_x = np.log10([cell.size for cell in drawn.cells]) / drawn.width
    centre_y = np.array([cell.value for cell in drawn.cells]) / drawn.height
    # a regular hexagon one wide is 2 / sqrt(3) high
    away = np.hypot(x[:, None] - centre_x, (y[:, None] - centre_y) * 2 / np.sqrt(3))
    # no point of it is further from its centre than a corner
    assert away.min(axis=1).max() <= 1 / np.sqrt(3) + 1e-4
    counts = np.bincount(away.argmin(axis=1), minlength=len(drawn.cells))
    assert counts.tolist() == [cell.n for cell in drawn.cells]


def test_groups_alike_are_one_cell():
    (cell,) = density(np.full(9, 10.0), np.full(9, 0.5), *AXES).cells
    assert cell.n == 9
    assert cell.size == pytest.approx(10, rel=0.25)
    assert cell.value == pytest.approx(0.5, abs=0.15)
