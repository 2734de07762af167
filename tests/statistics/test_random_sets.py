"""Random sets of items: against moments of rows that were permuted by hand, and counted sets."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
from pytest import approx

from fairrec.metrics.measured import Measured, Ratio
from fairrec.statistics.bootstrap import shares_of_random_sets
from fairrec.statistics.draws import CellSums
from fairrec.statistics.moments import compute_moments
from tests.groups.small_grouping import grouping_of
from tests.statistics.small_analysis import measured_as

N_ITEMS = 120


def items_of(seed: int) -> tuple[Measured, list[np.ndarray]]:
    """Two ratios of items of three kinds and two origins; some are due nothing and get nothing."""
    rng = np.random.default_rng(seed)
    below = rng.exponential(size=(2, N_ITEMS)) ** 2
    above = below * rng.exponential(size=(2, N_ITEMS))
    nothing = rng.random((2, N_ITEMS)) < 0.2
    above[nothing] = below[nothing] = 0.0
    with np.errstate(invalid="ignore"):
        measured = measured_as("mrr@5,urp@5", above / below)
    codes = [rng.integers(0, n, N_ITEMS) for n in (3, 2)]
    return replace(measured, ratio=Ratio.of(above, below, ~nothing)), codes


class Fixed:
    """Draws that are one permutation, summed by hand."""

    def __init__(self, order: np.ndarray, measured: Measured, cells) -> None:
        assert measured.ratio is not None
        of_all = np.nansum(measured.ratio.above, axis=1) / measured.ratio.below.sum(axis=1)
        columns = [
            *(measured.ratio.above - of_all[:, None] * measured.ratio.below),
            *(measured.ratio.below - 1),
        ]
        is_known = ~np.isnan(measured.terms)
        n = [*is_known, *is_known]
        sums = np.zeros((3, 4, len(cells)))
        for i, (column, known) in enumerate(zip(columns, n, strict=True)):
            # what has no value stays where it is
            shuffled = np.zeros(N_ITEMS)
            shuffled[known] = column[order[known[order]]]
            for item in range(N_ITEMS):
                at = cells.of_user[item]
                sums[:, i, at] += known[item], shuffled[item], shuffled[item] ** 2
        self.sums = CellSums(*sums)

    def cell_sums(self, seed: int, number: int) -> CellSums:
        return self.sums


def test_a_set_is_as_far_off_as_moments_of_permuted_rows_show(monkeypatch):
    measured, codes = items_of(1)
    grouping = grouping_of(codes, min_users=5)
    moments = compute_moments(measured, grouping)
    order = np.random.default_rng(2).permutation(N_ITEMS)
    drawn = Fixed(order, measured, grouping.cells)
    monkeypatch.setattr("fairrec.statistics.bootstrap.choose_draws", lambda *_: drawn)
    found = shares_of_random_sets(moments, grouping, 1, seed=0)

    assert measured.ratio is not None
    above, below = np.zeros((2, 2, N_ITEMS))
    for i, known in enumerate(~np.isnan(measured.terms)):
        above[i, known] = measured.ratio.above[i, order[known[order]]]
        below[i, known] = measured.ratio.below[i, order[known[order]]]
    permuted = compute_moments(
        replace(measured, ratio=measured.ratio._replace(above=above, below=below)), grouping
    ).difference
    observed = moments.difference
    is_as_far = np.where(observed > 0, permuted >= observed, permuted <= observed)
    assert is_as_far.any() and not is_as_far.all()
    # the group itself is one of the two sets
    assert (found == np.where(is_as_far, 1.0, 0.5)).all()


def test_as_many_sets_get_nothing_as_can_be_counted():
    """Three of forty items get all there is; of twenty at random none is among them."""
    above = np.zeros((1, 40))
    above[0, :3] = 1.0
    ratio = Ratio.of(above, np.ones((1, 40)), np.ones((1, 40), dtype=bool))
    measured = replace(measured_as("mrr@5", above[0]), ratio=ratio)
    grouping = grouping_of([np.repeat([0, 1], 20)])
    n = 4000
    (found,) = shares_of_random_sets(compute_moments(measured, grouping), grouping, n, seed=1)
    expected = comb(37, 20) / comb(40, 20)
    margin = 4 * np.sqrt(expected * (1 - expected) / n)
    assert found == approx([expected, expected], abs=margin)
    # a group and all others are one difference
    assert found[0] == found[1]


def test_threads_change_no_share():
    measured, codes = items_of(3)
    grouping = grouping_of(codes, min_users=5, depth=2)
    moments = compute_moments(measured, grouping)
    one, two = (shares_of_random_sets(moments, grouping, 60, seed=4, threads=n) for n in (1, 2))
    assert (one == two).all()


def test_a_group_with_all_that_is_due_is_compared_with_none():
    # what is left for the others is 0, or in other worlds a hair above or below it
    kind = np.repeat([0, 1, 2], 20)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        below = np.where(kind == 0, rng.random((1, 60)), 0.0)
        ratio = Ratio.of(rng.random((1, 60)), below, np.ones((1, 60), dtype=bool))
        measured = replace(measured_as("mrr@5", rng.random(60)), ratio=ratio)
        grouping = grouping_of([kind])
        moments = compute_moments(measured, grouping)
        assert np.isnan(moments.difference).all()
        assert np.isnan(shares_of_random_sets(moments, grouping, 19, seed)).all()
