"""Ratios of sums, permuted: against moments of rows that were permuted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pytest import approx

from fairrec.core.audit_options import AuditOptions
from fairrec.metrics.measured import Measured, Ratio
from fairrec.statistics.analysis import analyse
from fairrec.statistics.cell_sums import CellSums
from fairrec.statistics.moments import moments_of
from fairrec.statistics.permutation import Extremes, observed_scores
from fairrec.statistics.simultaneous import DOWN, UP
from fairrec.statistics.studentized_test import PermutedRatios
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


def test_a_draw_shows_what_moments_of_permuted_rows_show():
    measured, codes = items_of(1)
    grouping = grouping_of(codes, min_users=5)
    moments = moments_of(measured, grouping)
    is_tested = moments.n >= 5
    null = PermutedRatios(moments, grouping, is_tested)
    order = np.random.default_rng(2).permutation(N_ITEMS)
    null._draws = Fixed(order, measured, grouping.cells)
    drawn = null.draw(0, 0)

    assert measured.ratio is not None
    above, below = np.zeros((2, 2, N_ITEMS))
    for i, known in enumerate(~np.isnan(measured.terms)):
        above[i, known] = measured.ratio.above[i, order[known[order]]]
        below[i, known] = measured.ratio.below[i, order[known[order]]]
    permuted = moments_of(
        replace(measured, ratio=measured.ratio._replace(above=above, below=below)), grouping
    )
    scores = observed_scores(permuted, is_tested).by_own
    assert np.ptp(scores) > 1
    for at in np.unique(null.classes[is_tested]):
        of_class = scores[null.classes == at]
        assert drawn.largest_own[:, at] == approx([of_class.max(), -of_class.min()])
    ends = Extremes(grouping.lattice, is_tested)
    assert drawn.gaps == approx(ends.range_of(permuted.deviation))
    assert drawn.spans == approx(ends.range_of(scores))
    observed = null.scores.by_own
    beyond = np.where(observed > 0, scores >= observed, scores <= observed)
    assert (drawn.is_reached == (beyond | (observed == 0))).all()


def test_those_who_get_nothing_of_the_little_that_is_due_to_them_are_found():
    # half of the items are wanted a hundredth as often, and never shown
    rng = np.random.default_rng(3)
    is_rare = np.arange(400) % 2
    below = rng.exponential(size=(1, 400)) ** 3 * np.where(is_rare, 0.01, 1.0)
    above = below * rng.exponential(size=400) * (1 - is_rare)
    measured = replace(measured_as("mrr@5", above / below), ratio=Ratio.of(above, below, below > 0))
    grouping = grouping_of([is_rare], min_users=10)
    found = analyse(measured, grouping, AuditOptions.of(permutations=199))
    assert found.test is not None and found.test.is_studentized
    assert found.moments.difference[0].min() < -0.8
    assert (found.adjusted_p_values <= 0.05).all()
    # by the spread among all items they could not stand out
    assert (found.test.adjusted_p_values_by_chance > 0.05).all()


def test_a_group_with_all_that_is_due_is_compared_with_nobody():
    # what is left for the others is 0, or in other worlds a hair above or below it
    kind = np.repeat([0, 1, 2], 20)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        below = np.where(kind == 0, rng.random((1, 60)), 0.0)
        ratio = Ratio.of(rng.random((1, 60)), below, np.ones((1, 60), dtype=bool))
        measured = replace(measured_as("mrr@5", rng.random(60)), ratio=ratio)
        found = analyse(measured, grouping_of([kind]), AuditOptions.of(permutations=19))
        assert np.isnan(found.moments.difference).all()
        assert (found.score == 0).all() and (found.adjusted_p_values == 1).all()


def test_attributes_that_are_dealt_out_are_found_as_often_as_the_level_says():
    n_found, n_worlds = 0, 200
    for seed in range(n_worlds):
        measured, codes = items_of(seed)
        grouping = grouping_of(codes, min_users=5, depth=2)
        found = analyse(measured, grouping, AuditOptions.of(permutations=99, threads=1, seed=seed))
        n_found += bool(found.is_significant.any())
    # two and a half standard errors on both sides: it is exact
    margin = 2.5 * np.sqrt(0.05 * 0.95 / n_worlds)
    assert abs(n_found / n_worlds - 0.05) <= margin


def test_no_group_has_a_larger_p_value_by_itself_than_among_all():
    measured, codes = items_of(5)
    grouping = grouping_of(codes, min_users=5, depth=2)
    found = analyse(measured, grouping, AuditOptions.of(permutations=199, threads=1))
    is_rare = found.is_tested & (found.adjusted_p_values <= 0.5)
    assert is_rare.any()
    assert (found.p_values <= found.adjusted_p_values + 1e-12)[is_rare].all()


def test_a_group_and_all_others_are_one_difference():
    """A dozen items that get less are in another class of sizes than the rest, and one contrast."""
    rng = np.random.default_rng(5)
    below = rng.exponential(size=(1, 400))
    above = below * rng.exponential(size=(1, 400))
    above[0, :12] *= 0.35
    measured = replace(measured_as("mrr@5", above / below), ratio=Ratio.of(above, below, below > 0))
    codes = [np.arange(400) >= 12, rng.integers(0, 3, 400)]
    found = analyse(
        measured,
        grouping_of(codes, min_users=5, depth=2),
        AuditOptions(threads=1, permutations=199, min_support=5, depth=2),
    )
    assert found.test is not None
    by_itself, together = found.test.adjusted_p_values[0], found.adjusted_p_values[0]
    pair = [at for at, other in enumerate(found.grouping.complement) if at != other]
    assert len(pair) == 2
    assert by_itself[pair[0]] != by_itself[pair[1]]
    assert together[pair].tolist() == [by_itself[pair].min()] * 2
    alone = np.setdiff1d(np.arange(len(together)), pair)
    assert (together[alone] == by_itself[alone]).all()
    # and so is the score that they need: of other groups that of their own tail
    needed, least = found.least_scores(0), found.test.least_scores(0.05)[:, 0]
    assert needed[:, pair[0]].tolist() == needed[::-1, pair[1]].tolist()
    assert (least[UP, alone] != least[DOWN, alone]).any()
    assert (needed[:, alone] == least[:, alone]).all()
    # also where too few of the others have a value
    is_tested = found.is_tested.copy()
    is_tested[0, pair[1]] = False
    classes = np.where(is_tested, found.test.classes, -1)
    without = replace(found, is_tested=is_tested, test=replace(found.test, classes=classes))
    assert (without.least_scores(0)[:, pair[0]] > 0).all()
