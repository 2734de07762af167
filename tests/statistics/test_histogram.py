from __future__ import annotations

import numpy as np
import pytest

from fairrec.metrics.measured import Measured
from fairrec.statistics.findings import N_BINS, bin_edges, histograms
from tests.groups.small_grouping import grouping_of
from tests.statistics.small_analysis import measured_as


def test_few_values_have_a_bin_each():
    edges = bin_edges(np.array([0.0, 0.5, 1.0, 0.5, np.nan]))
    assert edges.tolist() == [-0.25, 0.25, 0.75, 1.25]


def test_nothing_to_see_has_no_bins():
    assert len(bin_edges(np.full(9, 3.0))) == len(bin_edges(np.full(3, np.nan))) == 0


def test_a_far_tail_is_in_the_last_bin():
    values = np.append(np.random.default_rng(0).normal(size=5000), 1e6)
    edges = bin_edges(values)
    assert len(edges) == N_BINS + 1 and edges[-2] < 4
    # the bin reaches as far as what it holds
    assert (edges[0], edges[-1]) == (values.min(), 1e6)
    measured = measured_as("mrr@5", values)
    grouping = grouping_of([np.zeros(5001, dtype=int)], min_users=1, depth=1)
    ((own, _),) = histograms(0, [0], edges, measured, grouping)
    assert own.sum() == 5001 and own[-1] >= 1


def test_own_and_others_are_the_users_of_both_sides():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, 300)
    values = rng.random(300)
    values[::7] = np.nan
    measured = measured_as("mrr@5", values)
    grouping = grouping_of([codes], min_users=1, depth=1)
    edges = bin_edges(values)
    for group in range(len(grouping.lattice)):
        ((own, others),) = histograms(0, [group], edges, measured, grouping)
        is_member = codes == grouping.lattice.codes[group, 0]
        for counts, is_side in ((own, is_member), (others, ~is_member)):
            expected, _ = np.histogram(values[is_side & ~np.isnan(values)], edges)
            assert counts.tolist() == expected.tolist()


@pytest.mark.parametrize("is_fully_scored", [True, False])
def test_after_a_search_users_count_who_are_known_fairly(is_fully_scored):
    codes = np.repeat([0, 1], 50)
    values = np.linspace(0, 1, 100)
    is_reference = np.arange(100) % 5 == 0
    is_scored = is_reference | (codes == 0)
    if not is_fully_scored:
        is_scored[3] = False
    whole = measured_as("mrr@5", values)
    measured = Measured(whole.metrics, whole.values, is_scored, is_reference)
    grouping = grouping_of([codes], min_users=1, depth=1)
    at = grouping.lattice.codes[:, 0].tolist().index(0)
    ((own, others),) = histograms(0, [at], bin_edges(values), measured, grouping)
    assert own.sum() == (50 if is_fully_scored else 10)
    assert others.sum() == 10
