"""Who was audited, maps of two attributes, and metrics against each other."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.audit_result import AuditResult
from fairrec.report.words import signed, value_order
from tests.builders import two_groups
from tests.report.planted import planted, view_of
from tests.worlds import ATTRIBUTES


def test_small_and_missing_values_are_marked():
    groups = ["even", "odd"] * 48 + ["rare"] + [None] * 3
    predictions, users = two_groups(100, group=groups)
    result = fairrec.audit(
        predictions,
        users=users,
        by="group",
        min_support=2,
        statistics=fairrec.Statistics(permutations=9),
    )
    (part,) = view_of(result).distributions
    assert [(bar.value, bar.users, bar.is_small, bar.is_missing) for bar in part.bars] == [
        ("even", "48", False, False),
        ("odd", "48", False, False),
        ("rare", "1", True, False),
        ("(missing)", "3", False, True),
    ]
    assert part.about == "4 values, missing for 3 users, 1 value with fewer than 2 users"


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


@pytest.mark.parametrize(
    "expected",
    [
        ["under 18", "18-24", "25-34", "56+"],
        ["<= 5", "5", "10", "100"],
        ["-10", "-2", "0", "1.5", "[2, 3)", "(3, 4]"],
        ["7", "north", "south", "(missing)"],
        # more digits than a number needs are no reason to fail
        ["1", "9" * 400],
        ["City 2", "City 10", "city 11", "City 100", "Town", "(missing)"],
        ["Level 1.5", "Level 2", "Level 10"],
        ["", "a", "(missing)"],
        ["18-24", "18-30", "25-34"],
    ],
)
def test_numbers_by_size_then_words_then_what_is_missing(expected):
    backwards = expected[::-1]
    assert sorted(backwards, key=value_order) == expected


def test_correlation_is_that_of_the_group_values():
    table = planted().group_table.filter(pl.col("depth") == 3)
    wide = table.pivot(on="metric", index=list(ATTRIBUTES), values="value")
    expected = np.corrcoef(wide["auc"], wide["mrr@5"])[0, 1]
    cells = {(cell.row, cell.column): cell for cell in view_of(planted()).correlation.cells}
    assert cells["auc", "mrr@5"].correlation == pytest.approx(expected, abs=1e-4)
    assert cells["auc", "auc"].text == "+1.00"
