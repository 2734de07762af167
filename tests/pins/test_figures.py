"""The figures of ten runs are those that were kept: floats to 1e-12, all else exactly."""

from __future__ import annotations

import pytest

from tests.pins.kept import as_text, compute_rows, read_names, read_rows
from tests.pins.names import public_names
from tests.pins.rows import Figure
from tests.pins.runs import RUNS


def is_kept(number: Figure, text: str) -> bool:
    if isinstance(number, float) and text:
        return number == pytest.approx(float(text), rel=1e-12, abs=1e-12, nan_ok=True)
    return text == ("" if number is None else str(number))


@pytest.mark.parametrize("run", RUNS)
def test_no_figure_changes(run: str):
    now = {row[:-1]: row.number for row in compute_rows(run)}
    before = {row[:-1]: row.number for row in read_rows(run)}
    assert now.keys() == before.keys()
    changed = {
        row: (before[row], number)
        for row, number in now.items()
        if not is_kept(number, str(before[row]))
    }
    assert changed == {}


def test_a_changed_figure_is_noticed():
    first, *_ = (row for row in compute_rows("values") if isinstance(row.number, float))
    assert is_kept(first.number, as_text(first).number)
    assert not is_kept(first.number * (1 + 1e-11), as_text(first).number)
    assert not is_kept(None, as_text(first).number)
    assert not is_kept("worse", "inconclusive")


def test_public_names_and_flags_stay():
    assert public_names() == read_names()
