"""Maps of two attributes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.page.build import build_page_view
from fairrec.report.words import signed
from fairrec.result.audit_result import AuditResult
from tests.report.page.planted_page import planted, planted_result, view_of


def test_pairs_hold_the_groups_of_two_attributes():
    view = view_of(planted())
    assert {(pair.row_name, pair.column_name) for pair in view.pairs} == {
        ("gender", "age"),
        ("gender", "job"),
        ("age", "job"),
    }
    first = view.pairs[0]
    assert (first.row_name, first.column_name) == ("gender", "age")
    assert first.columns == ("18-24", "25-34", "35-64", "65+")
    worst = min(first.cells, key=lambda cell: cell.shade)
    assert (worst.row, worst.column, worst.shade, worst.is_finding) == ("F", "65+", -1.0, True)
    assert worst.text == signed(worst.difference)
    decimals = {cell.text.partition(".")[2] for cell in first.cells}
    assert {len(text) for text in decimals} == {3}


def test_cells_are_faded_where_chance_explains_them():
    for pair in view_of(planted()).pairs:
        assert all(cell.is_faded == (cell.p_adjusted > 0.05) for cell in pair.cells)
    cells = [cell for pair in view_of(planted()).pairs for cell in pair.cells]
    assert {cell.is_faded for cell in cells} == {True, False}
    untested = view_of(planted_result(permutations=0))
    assert not any(cell.is_faded for pair in untested.pairs for cell in pair.cells)


def test_a_metric_has_one_scale_over_all_pairs_that_ends_at_what_is_beyond_chance():
    view = view_of(planted())
    for metric in view.metrics:
        maps = [pair for pair in view.pairs if pair.metric == metric]
        assert len(maps) == 3
        (ramp,) = {pair.ramp for pair in maps}
        cells = [cell for pair in maps for cell in pair.cells]
        beyond = max(abs(cell.difference) for cell in cells if not cell.is_faded)
        assert ramp.reach == pytest.approx(beyond, rel=1e-5)
        assert (ramp.low, ramp.high) == (f"worse {signed(-beyond)}", f"{signed(beyond)} better")
        for cell in cells:
            shade = max(-1, min(1, cell.difference / beyond))
            assert cell.shade == pytest.approx(shade, abs=1e-3)


def test_a_large_difference_that_chance_explains_does_not_stretch_the_scale():
    table = planted().group_table.with_columns(
        # all but one that is not the largest
        p_adjusted=pl.when(pl.col("gender") == "M", pl.col("age") == "65+")
        .then(0.01)
        .otherwise(1.0)
    )
    view = build_page_view(planted().summary, table)
    ramps = {pair.metric: pair.ramp.reach for pair in view.pairs}
    whole = {pair.metric: pair.ramp.reach for pair in view_of(planted()).pairs}
    assert all(ramps[name] < whole[name] / 1.2 for name in whole)
    cell = min(view.pairs[0].cells, key=lambda cell: cell.difference)
    assert (cell.label, cell.shade, cell.is_faded) == ("gender=F, age=65+", -1.0, True)


@pytest.mark.parametrize(
    ("better", "ends"),
    [
        ("higher", ("worse \N{MINUS SIGN}", "better")),
        ("lower", ("worse +", "better")),
        (None, ("lower \N{MINUS SIGN}", "higher")),
    ],
)
def test_the_ends_of_the_scale_follow_the_direction(better, ends):
    pair = view_of(of_values(better)).pairs[0]
    assert pair.ramp.low.startswith(ends[0])
    assert pair.ramp.high.endswith(ends[1])
    assert pair.ramp.is_neutral == (better is None)
    sign = -1 if better == "lower" else 1
    assert all(cell.shade * cell.difference * sign >= 0 for cell in pair.cells)


def test_the_first_map_is_that_of_the_strongest_finding():
    pair = view_of(of_values("higher")).pairs[0]
    assert (pair.metric, pair.row_name, pair.column_name) == ("hurt", "b", "c")
    (outlined,) = (cell for cell in pair.cells if cell.is_finding)
    assert outlined.label == "b=1, c=2"


def of_values(better: str | None) -> AuditResult:
    """The second metric is low for one combination of the last two attributes."""
    n = 3000
    rng = np.random.default_rng(0)
    codes = {name: rng.integers(0, 4, n) for name in "abc"}
    is_hurt = (codes["b"] == 1) & (codes["c"] == 2)
    sign = -1 if better == "lower" else 1
    values = {
        "calm": rng.normal(0, 1, n),
        "hurt": rng.normal(0, 1, n) - sign * 2 * is_hurt,
    }
    return fairrec.audit(
        values=pl.DataFrame({"user_id": np.arange(n), **values}),
        users=pl.DataFrame({"user_id": np.arange(n), **codes}),
        by=["a", "b", "c"],
        tables=fairrec.Tables(better=dict.fromkeys(values, better) if better else None),
        statistics=fairrec.Statistics(permutations=99),
    )
