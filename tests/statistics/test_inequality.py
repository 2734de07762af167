"""Inequality between users, and over the items of a catalogue, beside slow loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pytest import approx

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.statistics.inequality import (
    MOST_VALUES,
    ItemsShown,
    gini,
    items_by_value,
    measure_catalogue,
)
from fairrec.statistics.ratios import analyse_ratios
from tests.groups.small_grouping import build_grouping
from tests.metrics.item_world import ItemWorld
from tests.statistics.small_worlds import measured_as

OPTIONS = AuditOptions(engine=Engine(threads=1))
VALUES = arrays(np.float64, st.integers(2, 30), elements=st.floats(0, 10, width=16))


def slow_gini(values) -> float:
    return sum(abs(one - other) for one in values for other in values) / (
        2 * len(values) ** 2 * np.mean(values)
    )


@given(VALUES.filter(lambda values: values.sum() > 1e-3))
def test_the_index_is_that_of_plain_sums(values):
    assert gini(values) == approx(slow_gini(values), abs=1e-9)


def gini_of(values, is_scored=True) -> float | None:
    measured = measured_as("urp@5", values)
    measured = replace(measured, is_scored=np.full(len(values), is_scored))
    grouping = build_grouping([np.zeros(len(values), dtype=int)])
    return analyse_ratios(measured, grouping, OPTIONS).metrics["urp@5"].gini


def test_values_below_0_and_users_not_scored_leave_the_index_undefined():
    assert gini_of([0.0, 1.0]) == 0.5
    assert gini_of([-1.0, 1.0]) is None
    assert gini_of([0.0, 1.0], is_scored=False) is None


TOP = 3


def found_of(world):
    read = world.read(f"exposure@{TOP}")
    return measure_catalogue(read.shown, TOP, read.inputs.attributes)


def test_gini_and_coverage_count_items_that_nobody_was_shown():
    world = ItemWorld(
        {item: {"kind": "a"} for item in range(4)}, {1: [0], 2: [0], 3: [0]}, {1: {3: 1.0}}, {}
    )
    found = found_of(world)
    # one item of four has all the attention
    assert found.gini == pytest.approx(0.75)
    assert (found.n_shown, found.n_items, found.n_lists) == (1, 4, 3)
    assert found.by_value == {"kind": {"a": ItemsShown(n_items=4, n_shown=1)}}


def test_of_very_many_values_those_of_most_items_are_told_in_their_order():
    n = np.array([*range(1, MOST_VALUES + 3), 0])
    shown = items_by_value(range(len(n)), n, n)
    assert [*shown] == [str(at) for at in range(2, MOST_VALUES + 2)]
    assert (shown["2"].n_items, shown["2"].n_shown) == (3, 3)
