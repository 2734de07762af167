"""Users drawn again and random sets of items: errors, intervals and findings of items."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from benchmarks.statistics.items import (
    ALL_HELD,
    BEYOND,
    FULL,
    GAP_LEVEL,
    HELD_BACK,
    LEVEL,
    ONE_HELD,
    WORSE,
    analyse_items,
    coverage,
    held_back,
    level_of_tastes,
)

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics.measured import Measured, Ratio, measure_everyone
from fairrec.metrics.reading import read_items
from fairrec.statistics.bootstrap import (
    deal_into_blocks,
    random_set_shares,
    resample_users,
)
from fairrec.statistics.draws import CellSums
from fairrec.statistics.moments import compute_moments
from tests.groups.small_grouping import build_grouping
from tests.metrics.item_world import ItemWorld, random_world, without
from tests.statistics.small_worlds import measured_as

OPTIONS = AuditOptions(min_support=1, permutations=0)


def resampled(
    world: ItemWorld,
    metrics: str = "exposure@3",
    threads: int = 1,
    seed: int = 0,
    history: bool = False,
):
    read = world.read(metrics, history=history)
    grouping = Grouping.of(read.inputs.attributes, OPTIONS)
    measured = replace(measure_everyone(read.inputs, read.wanted), ratio=read.ratio)
    lengths = np.diff(read.shown.candidates.offsets)
    blocks = deal_into_blocks(read.shares, read.shown.catalogue, grouping, lengths, seed)
    moments = compute_moments(measured, grouping)
    return resample_users(blocks, moments, grouping, 0.05, seed, threads), moments, read


def test_the_error_is_that_of_means_over_users():
    """Where every list could hold every item, a difference is a mean of what each list adds."""
    world = random_world(2, n_users=60)
    found, moments, _ = resampled(world)
    kinds = {item: about["kind"] for item, about in world.items.items()}
    n = {kind: [*kinds.values()].count(kind) for kind in "ab"}

    def value_of_lists(shown, kind):
        return (
            sum(1 / np.log2(r + 2) for r, i in enumerate(shown[:3]) if kinds[i] == kind) / n[kind]
        )

    per_list = [
        value_of_lists(shown, "a") - value_of_lists(shown, "b") for shown in world.lists.values()
    ]
    assert moments.difference[0, 0] == pytest.approx(np.mean(per_list))
    expected = np.std(per_list, ddof=1) / np.sqrt(len(per_list))
    assert found.error[0, 0] == pytest.approx(expected, rel=0.1)


def test_threads_change_no_digit():
    world = random_world(4, n_users=50)
    metrics = "exposure@3,exposure_to_relevance@2"
    alone, together = (resampled(world, metrics, threads)[0] for threads in (1, 3))
    assert np.array_equal(alone.error, together.error)
    assert np.array_equal(alone.cut_off, together.cut_off)


@pytest.mark.parametrize(
    "market", [pytest.param(FULL, marks=pytest.mark.slow), WORSE], ids=lambda market: market.name
)
def test_intervals_hold_for_items_that_compete(market):
    small = replace(market, n_items=80, n_users=300, n_many=10_000)
    study = partial(coverage, market=small, metrics="exposure@10")
    found = [study(seed) for seed in range(12)]
    assert sum(one[ALL_HELD][0] for one in found) >= 10
    alone = sum(one[ONE_HELD][0] for one in found) / sum(one[ONE_HELD][1] for one in found)
    assert alone > 0.85


def test_what_the_users_who_came_like_together_is_no_finding():
    """Dealing out attributes cannot tell that as many would like another kind next time."""
    found = [level_of_tastes(seed, n_users=300, taste=4.0) for seed in range(12)]
    assert sum(one[LEVEL][0] for one in found) <= 2
    # nor is the gap, which attributes dealt out alone call beyond chance in most of these worlds
    assert sum(one[GAP_LEVEL][0] for one in found) <= 2


@pytest.mark.parametrize("market", [of for of, *_ in HELD_BACK[:2]], ids=lambda of: of.name)
def test_a_kind_that_gets_a_few_percent_of_its_due_is_worse_by_more_than_matters(market):
    found = [held_back(seed, replace(market, n_users=500)) for seed in range(4)]
    assert sum(one[BEYOND][0] for one in found) == 4


def test_a_finding_is_what_its_interval_says_of_both_sides_of_a_difference():
    """A dozen items and all others are one difference, in two size classes."""
    n_found = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        liking = rng.gumbel(size=(150, 60)) - 0.35 * (np.arange(60) < 12)
        lists = np.argsort(-liking, axis=1)[:, :5].tolist()
        genres = ["b|d" if at < 12 else "a|b" if at % 2 else "b" for at in range(60)]
        items = pl.DataFrame({"item_id": range(60), "genres": genres})
        given = TableOptions(items=items, side="items", by="genres:each", metrics="exposure@5")
        shown = pl.DataFrame({"user_id": range(150), "item_id": lists})
        options = AuditOptions(min_support=5, permutations=19, engine=Engine(threads=1))
        found = analyse_items(read_items(shown, given), options)
        low, high = (end[found.is_tested] for end in found.estimates.simultaneous)
        is_found = found.is_beyond_chance[found.is_tested]
        assert (is_found == ((low > 0) | (high < 0))).all()
        assert (is_found == (found.adjusted_p_values[found.is_tested] <= 0.05)).all()
        other = found.grouping.complement
        pairs = np.flatnonzero(other != np.arange(len(other)))
        assert len(pairs)
        adjusted, interval = found.adjusted_p_values[0], found.estimates.simultaneous
        assert (adjusted[pairs] == adjusted[other[pairs]]).all()
        assert interval.low[0, pairs] == pytest.approx(-interval.high[0, other[pairs]])
        # what a finding is folded by is the score that made it one
        up, down = found.critical
        assert (up == down).all()
        assert ((np.abs(found.score) > up)[found.is_tested] == is_found).all()
        n_found += is_found.sum()
    assert n_found


def test_what_no_user_could_change_is_certain():
    """Everyone gets the same list: nothing is off by chance, and nothing is infinite."""
    items = pl.DataFrame({"item_id": range(40), "kind": ["a"] * 20 + ["b"] * 20})
    lists = pl.DataFrame({"user_id": range(50), "item_id": [[0, 1, 2]] * 50})
    given = TableOptions(items=items, side="items", by="kind", metrics="exposure@3")
    found = analyse_items(read_items(lists, given), AuditOptions(permutations=19))
    assert found.is_beyond_chance.all()
    assert np.isfinite(found.score).all() and (found.score != 0).all()
    assert found.estimates.simultaneous.high[0].min() < 0


@pytest.mark.parametrize("history", [False, True])
def test_errors_of_ratios_are_those_of_leaving_out_one_user_after_the_other(history):
    world = random_world(3, n_users=40)
    name = "exposure_to_relevance@2"
    found, moments, _ = resampled(world, name, history=history)

    def difference(of: ItemWorld) -> float:
        """Of kind a from kind b."""
        parts = {item: of.received_and_due(item, 2, history) for item in of.items}
        a, b = (
            np.sum([parts[i] for i, about in of.items.items() if about["kind"] == kind], axis=0)
            for kind in "ab"
        )
        return a[0] / a[1] - b[0] / b[1]

    assert moments.difference[0, 0] == pytest.approx(difference(world))
    left = [difference(without(world, user)) - difference(world) for user in world.lists]
    expected = np.sqrt(39 / 40 * np.square(left).sum())
    assert found.error[0, 0] == pytest.approx(expected)


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
    grouping = build_grouping(codes, min_users=5)
    moments = compute_moments(measured, grouping)
    order = np.random.default_rng(2).permutation(N_ITEMS)
    drawn = Fixed(order, measured, grouping.cells)
    monkeypatch.setattr("fairrec.statistics.bootstrap.choose_draws", lambda *_: drawn)
    found = random_set_shares(moments, grouping, 1, seed=0)

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
