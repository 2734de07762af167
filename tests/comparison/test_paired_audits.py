"""Groups of two audits with the same users: intervals at once, and what is called worse."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.statistics.comparison import STUDIES
from scipy.special import stdtrit

from fairrec import Engine
from fairrec.comparison.losses import (
    ComparedGroups,
    compare_paired,
    cut_off,
    judge_groups,
    significance_levels,
)
from fairrec.comparison.unpaired_audits import (
    UNBOUNDED,
    Published,
    compare_unpaired,
    infer_bounds,
    recover_side,
)
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.statistics.intervals import estimate, score_interval
from fairrec.statistics.moments import group_moments
from fairrec.statistics.paired import change_of_means
from fairrec.statistics.scores import own_spread
from tests.worlds import over_worlds

NAN = np.nan


FAST = (
    "a model and itself, hits of 20%, the same users",
    "a model and itself, hits of 3%, the same users",
    "a model and itself, lognormal amounts, the same users, 3 times as wide for rare values",
    "a model and itself, shares, the same users, 3 times as wide for rare values",
    "a model and itself, hits of 3%, other users",
    "a model and itself, lognormal amounts, other users",
    "a model and itself, shares, other users, 3 times as wide for rare values",
    "another model, changes of 0 on average, 95% gain, 5% lose, 3 times for rare values",
    "300 of 20,000 users served worse by 0.25, hits of 20%, the same users",
    "300 of 20,000 users served worse by 0.2, shares, other users",
    "0.01 of users lose all, in all groups alike",
)

LOST, CHANGED = "lost beyond tolerance", "changed beyond tolerance"


@over_worlds(60)
@pytest.mark.parametrize("world", FAST)
def test_a_claim_about_comparisons_holds_over_many_worlds(world, n_worlds):
    (study,) = (study for study in STUDIES if study.world == world)
    claimed = [rate for rate in study.rates(n_worlds) if rate.claim.bar]
    assert claimed
    assert [f"{rate.claim.what}: {rate}" for rate in claimed if rate.is_met is not True] == []


def build_grouping(*sizes: int) -> Grouping:
    codes = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    attribute = Attribute("who", codes, tuple("abcdef"[: len(sizes)]))
    return Grouping.of((attribute,), AuditOptions(depth=1, min_support=1, engine=Engine(threads=1)))


def compared(change, *sizes, higher_is_better=True, bounds=None, alpha=0.05) -> ComparedGroups:
    """Users of groups of these sizes, before at 0.5."""
    grouping = build_grouping(*sizes)
    before = np.full((1, len(change)), 0.5)
    mask = np.ones((1, len(sizes)), dtype=bool)
    (found,) = compare_paired(
        before, before + change, grouping, mask, [higher_is_better], [bounds], alpha
    )
    return found


def test_the_level_is_divided_by_all_groups_and_metrics():
    change = np.random.default_rng(0).normal(size=200)
    found = compared(change, 100, 100)
    # both groups have nearly one spread; the larger of theirs and that of all counts
    mine = change[:100]
    error = max(mine.std(ddof=1), change.std(ddof=1)) / 10
    # half of the level is for differences, and there are two ends and two groups
    far = stdtrit(99, 1 - 0.05 / 2 / 2 / 2) * error
    assert found.interval.high[0] == pytest.approx(mine.mean() + far)
    # the worse end may be further out
    assert found.interval.low[0] <= mine.mean() - far + 1e-12
    alone = compared(change, 200)
    errors = [(of.interval.high - of.change)[0] / of.error[0] for of in (alone, found)]
    assert errors[0] < errors[1]


def test_only_groups_asked_for_are_compared_and_counted():
    change = np.random.default_rng(1).normal(size=300)
    grouping, before = build_grouping(100, 100, 100), np.zeros((1, 300))
    some = np.array([[False, True, False]])
    found, alone = (
        compare_paired(before, values, which, mask, [True], [None], 0.05)[0]
        for values, which, mask in (
            (change[None], grouping, some),
            (change[None], grouping, np.ones((1, 3), dtype=bool)),
        )
    )
    assert len(found.n) == 1
    assert found.change[0] == alone.change[1]
    assert found.interval.high[0] < alone.interval.high[1]


def test_where_nobody_changed_everything_is_known_and_where_others_did_it_is_not():
    same = compared(np.zeros(60), 30, 30)
    assert same.is_known.all() and not same.is_beyond_chance.any()
    assert same.interval.low.tolist() == same.interval.high.tolist() == [0.0, 0.0]
    change = np.zeros(60)
    change[40:44] = -1.0
    found = compared(change, 30, 30)
    # a group of 30 of whom none lost is no proof that fewer than one in eight would
    tail = np.log(0.05 / 2 / 2 / 2)
    assert found.interval.low[0] == pytest.approx(-(1 - np.exp(tail / 30)))
    assert found.interval.high[0] == 0.0


def test_few_users_who_change_alike_are_not_known():
    others = np.random.default_rng(0).normal(size=2000) / 1e3
    found = compared(np.concatenate([[-0.3] * 3, others]), 3, 2000)
    assert not found.is_known[0] and np.isnan(found.interval.low[0])
    assert not found.is_beyond_chance[0]


@pytest.mark.parametrize(("higher_is_better", "end"), [(True, "low"), (False, "high")])
def test_users_not_seen_may_lose_all_that_a_metric_has(higher_is_better, end):
    rng = np.random.default_rng(0)
    change = rng.normal(scale=0.01, size=1000)
    free, bounded = (
        compared(change, 30, 970, higher_is_better=higher_is_better, bounds=bounds)
        for bounds in (None, (0.0, 1.0))
    )
    far = -1.0 if higher_is_better else 1.0
    share = 1 - np.exp(np.log(0.05 / 2 / 2 / 2) / 30)
    mean = change[:30].mean()
    assert getattr(bounded.interval, end)[0] == pytest.approx(mean + share * (far - mean))
    assert abs(getattr(free.interval, end)[0]) < 0.02
    # no group is said to have gained where such users would leave it with a loss
    assert not bounded.is_beyond_chance[0]
    # even where nobody changed at all
    same = compared(np.zeros(1000), 30, 970, bounds=(0.0, 1.0))
    assert same.interval.low[0] == pytest.approx(-share) and same.interval.high[0] == 0.0
    assert same.is_known.all() and not same.is_beyond_chance.any()


def groups(*rows, n=100.0) -> ComparedGroups:
    """Change, low and high of each group; those that fell most differ as much from all others."""
    change, low, high = (np.array(part) for part in zip(*rows, strict=True))
    fell = change < -0.2
    return ComparedGroups(
        n=np.full(len(rows), n),
        before=np.full(len(rows), 0.5),
        after=0.5 + change,
        change=change,
        error=np.full(len(rows), 0.1),
        low=low,
        high=high,
        is_known=np.isfinite(low),
        difference=np.where(fell, change, 0.0),
        difference_low=np.where(fell, low, NAN),
        difference_high=np.where(fell, high, NAN),
    )


ROWS = (
    (0.3, 0.2, 0.4),
    (-0.1, -0.15, -0.05),
    (-0.3, -0.4, -0.2),
    (0.0, -0.05, 0.05),
    (-0.2, NAN, NAN),
)


DEPTH = np.array([1, 1, 1, 2, 2])


def losses(found):
    return found.losses.tolist()


@pytest.mark.parametrize(
    ("higher_is_better", "expected", "outcome"),
    [
        (
            True,
            ["gained", "lost", LOST, "no loss", "inconclusive"],
            LOST,
        ),
        (
            False,
            [LOST, "gained", "gained", "no loss", "inconclusive"],
            LOST,
        ),
        (
            None,
            [
                CHANGED,
                "changed",
                CHANGED,
                "no change",
                "inconclusive",
            ],
            CHANGED,
        ),
    ],
)
def test_groups_are_judged_by_how_much_they_lost(higher_is_better, expected, outcome):
    found = judge_groups(groups(*ROWS), DEPTH, higher_is_better, 0.1, is_conclusive=True)
    assert losses(found) == expected
    assert found.outcome == outcome
    # whoever gained more than the others is not behind them
    assert np.flatnonzero(found.is_behind).tolist() == ([] if higher_is_better is False else [2])
    assert losses(found)[found.order[0]] == outcome


def test_those_by_most_standard_errors_come_first_and_without_an_amount_a_gain_rules_out_a_loss():
    found = judge_groups(groups(*ROWS), DEPTH, True, None, is_conclusive=True)
    assert losses(found) == ["gained", "lost", "lost", "inconclusive", "inconclusive"]
    assert found.order.tolist()[:2] == [2, 1]
    assert found.outcome == "lost"


@pytest.mark.parametrize(
    ("rows", "tolerance", "everyone", "outcome"),
    [
        (((0.3, 0.2, 0.4), (0.0, -0.1, 0.1)), None, (-0.1, 0.1), "gained"),
        (((0.3, 0.2, 0.4), (0.2, 0.0, 0.4)), None, (0.1, 0.3), "no loss"),
        (((0.0, -0.1, 0.1), (0.0, -0.1, 0.1)), None, None, "inconclusive"),
        (((0.0, -0.1, 0.1), (0.0, -0.1, 0.1)), None, (0.01, 0.02), "gained"),
        (((0.0, -0.1, 0.1), (0.0, -0.1, 0.1)), None, (-0.02, -0.01), "lost"),
        (((0.0, -0.1, 0.1), (0.0, -0.1, 0.1)), 0.05, (-0.02, -0.01), "inconclusive"),
        (((0.0, -0.1, 0.1), (0.0, -0.1, 0.1)), 0.05, (-0.2, -0.1), LOST),
        (((0.0, -0.1, 0.1), (0.0, -0.1, 0.1)), 0.2, (-0.02, -0.01), "no loss"),
        (((0.3, 0.2, 0.4), (-0.3, -0.4, -0.2)), None, (0.1, 0.3), "lost"),
    ],
)
def test_a_metric_is_open_only_where_neither_a_loss_nor_its_absence_is_known(
    rows, tolerance, everyone, outcome
):
    depth = np.ones(len(rows), dtype=int)
    found = judge_groups(
        groups(*rows), depth, True, tolerance, is_conclusive=True, everyone=everyone
    )
    assert found.outcome == outcome


def test_a_difference_in_differences_is_welchs_with_no_side_less_varied_than_all():
    rng = np.random.default_rng(0)
    change = np.concatenate([rng.normal(-1, 3, 60), rng.normal(-0.5, 1, 340)])
    found = compared(change, 60, 340)
    mine, others = change[:60], change[60:]
    assert found.difference[0] == pytest.approx(mine.mean() - others.mean())
    assert found.difference[1] == pytest.approx(-found.difference[0])
    parts = mine.var(ddof=1) / 60, max(others.var(ddof=1), change.var()) / 340
    error = np.sqrt(sum(parts))
    freedom = error**4 / (parts[0] ** 2 / 59 + parts[1] ** 2 / 339)
    far = stdtrit(freedom, 1 - 0.05 / 2 / 2 / 2) * error
    assert found.difference_interval.high[0] == pytest.approx(found.difference[0] + far)


def test_a_loss_that_all_share_is_no_difference_from_the_others():
    found = compared(np.full(60, -0.1), 30, 30)
    assert found.differs.tolist() == [False, False]
    assert found.difference_interval.low.tolist() == [0.0, 0.0]
    # a group without anyone beside it has no others
    assert np.isnan(compared(np.linspace(-1, 0, 60), 60).difference[0])


def test_single_attributes_have_most_of_the_level_and_all_of_it_is_given():
    depth = np.repeat([1, 2, 3], [5, 20, 40])
    levels = significance_levels(depth, depth, 0.05)
    assert levels.sum() == pytest.approx(0.05 / 2)
    assert levels[depth == 1].sum() == pytest.approx(0.05 / 2 * 4 / 9)
    # what is tested elsewhere has its part
    assert significance_levels(depth, np.repeat(depth, 2), 0.05).sum() == pytest.approx(0.05 / 4)


def test_where_users_without_a_value_are_too_many_nothing_is_ruled_out():
    rows = ((0.0, -0.05, 0.05), (-0.3, -0.4, -0.2))
    found = judge_groups(groups(*rows), np.ones(2, dtype=int), True, 0.1, is_conclusive=False)
    assert losses(found) == ["inconclusive", LOST]
    assert found.certificate == ()
    certain = judge_groups(groups(*rows), np.ones(2, dtype=int), True, 0.1, is_conclusive=True)
    assert [point.harm for point in certain.certificate] == [0.05]


def test_what_is_said_of_groups_of_a_size_leaves_out_none_of_them():
    rows = ((0.0, -0.05, 0.05), (0.0, -0.04, 0.04), (NAN, NAN, NAN))
    found = groups(*rows)
    sized = found._replace(n=np.array([100.0, 300.0, 200.0]))
    told = judge_groups(sized, np.ones(3, dtype=int), True, 0.1, is_conclusive=True).certificate
    assert [(point.support, point.harm) for point in told] == [(300, 0.04)]


ALPHA = 0.1


CODES = np.repeat(np.arange(5), [12, 40, 40, 200, 200]).astype(np.int32)


GROUPING = Grouping.of(
    (Attribute("who", CODES, (*"abcde",)),),
    AuditOptions(depth=1, min_support=1, engine=Engine(threads=1)),
)


N, DEPTH_UNPAIRED = len(CODES), GROUPING.lattice.depth


KINDS = {
    "hits": (lambda rng: (rng.random(N) < 0.2).astype(float), (0.0, 1.0)),
    "shares": (lambda rng: rng.beta(1, 3, N), (0.0, 1.0)),
    "amounts": (lambda rng: rng.gamma(2, 3, N), None),
    "amounts below 1": (lambda rng: rng.gamma(2, 0.1, N), None),
    "changes": (lambda rng: rng.normal(size=N), None),
}


def told(values, bounds):
    """Moments, and what an audit tells of them."""
    moments = group_moments(values[None], GROUPING, bounds=np.array([bounds]) if bounds else None)
    found = estimate(moments, ALPHA)
    ends = found.value[0], found.value_low[0], found.value_high[0]
    return moments, Published(moments.n[0], *ends, ALPHA)


@pytest.mark.parametrize("kind", KINDS)
def test_an_interval_has_in_it_what_it_was_made_of(kind):
    draw, bounds = KINDS[kind]
    moments, published = told(draw(np.random.default_rng(0)), bounds)
    found = infer_bounds([published], bounds)
    assert found == (bounds or UNBOUNDED)
    published = published._replace(sd=float(moments.sd[0]))
    side, spread = recover_side(published, found), own_spread(moments)
    if bounds:
        assert side.spread.dispersion == pytest.approx(spread.dispersion[0])
    else:
        assert side.spread.variance == pytest.approx(spread.variance[0])
    assert side.spread.freedom == pytest.approx(spread.freedom[0])


def test_bounds_that_nobody_named_are_those_of_rates_or_none():
    _, hits = told(KINDS["hits"][0](np.random.default_rng(0)), None)
    # two values are a rate, whoever says so
    assert infer_bounds([hits], None) == (0.0, 1.0)
    wide = hits._replace(value=3 + hits.value, low=3 + hits.low, high=3 + hits.high)
    assert infer_bounds([wide], None) == UNBOUNDED
    even = hits._replace(low=hits.value - 0.1, high=hits.value + 0.1)
    assert infer_bounds([even], (0.0, 1.0)) == UNBOUNDED


def test_two_samples_differ_where_they_do_and_the_groups_are_those_of_the_candidate():
    rng = np.random.default_rng(1)
    before, after = rng.normal(5, 1, N), rng.normal(5, 1, N)
    after[CODES == 3] -= 1.0
    first, last = told(before, None)[1], told(after, None)[1]
    last = last._replace(n=last.n + 1)
    (found,) = compare_unpaired([first], [last], [DEPTH_UNPAIRED], [None], 0.05)
    assert found.n.tolist() == last.n.tolist()
    assert found.is_beyond_chance.tolist() == [False, False, False, True, False]
    assert found.change == pytest.approx(found.after - found.before)
    both = np.sqrt(before[CODES == 3].var(ddof=1) / 200 + after[CODES == 3].var(ddof=1) / 200)
    assert found.error[3] == pytest.approx(both, rel=0.02)


def test_a_group_without_an_interval_is_not_known_and_costs_nothing():
    _, published = told(KINDS["amounts"][0](np.random.default_rng(0)), None)
    holes = np.array([np.nan, 0, 0, 0, 0])
    partial = published._replace(low=published.low + holes)
    (found,) = compare_unpaired([partial], [published], [DEPTH_UNPAIRED], [None], 0.05)
    assert found.is_known.tolist() == [False, True, True, True, True]
    (everything,) = compare_unpaired([published], [published], [DEPTH_UNPAIRED], [None], 0.05)
    assert found.interval.high[1] < everything.interval.high[1]


def test_all_others_are_what_is_left_of_the_sums_of_everyone():
    rng = np.random.default_rng(2)
    before, after = rng.gamma(2, 3, N), rng.gamma(2, 3, N) - 1
    after[CODES == 3] -= 4
    sides = []
    for values in (before, after):
        _, published = told(values, None)
        sides.append(published._replace(sd=values.std(), n_all=N, mean=values.mean()))
    (found,) = compare_unpaired(sides[:1], sides[1:], [DEPTH_UNPAIRED], [None], 0.05)
    is_in = CODES == 3
    change, of_others = (after[who].mean() - before[who].mean() for who in (is_in, ~is_in))
    assert found.difference[3] == pytest.approx(change - of_others)
    # others of the last fell, with those who lost among them
    assert found.differs.tolist() == [False, False, False, True, True]
    # the interval adds the error of the others' change to that of the group's own
    far = cut_off(significance_levels(DEPTH_UNPAIRED, DEPTH_UNPAIRED, 0.05)[3]).up
    far *= np.sqrt(sum(values[~is_in].var() for values in (before, after)) / (~is_in).sum())
    up = found.interval.high[3] - found.change[3]
    assert found.difference_interval.high[3] - found.difference[3] == pytest.approx(
        np.hypot(up, far), rel=0.01
    )
    # without an error of the mean of all nothing is known of the others
    blind = [side._replace(sd=0.0) for side in sides]
    (found,) = compare_unpaired(blind[:1], blind[1:], [DEPTH_UNPAIRED], [None], 0.05)
    assert not found.differs.any() and np.isnan(found.difference_interval.low).all()


def test_a_handful_who_look_alike_vary_as_all_users_do():
    n, flat = np.array([20.0, 5000.0]), np.array([0.1, 0.1])
    ends = np.array([-1.2, 0.86]), np.array([3.2, 1.14])
    base = Published(n, np.array([1.0, 1.0]), *ends, 0.05, 5)
    # of 20 users nobody has bought anything
    few = Published(n, np.array([0.05, 1.0]), -flat, np.array([0.2, 2.1]), 0.05, 5)
    (found,) = compare_unpaired([base], [few], [DEPTH_UNPAIRED[:2]], [None], 0.05)
    assert found.error[0] > np.hypot(1, 1)
    assert not found.is_beyond_chance[0]


def test_a_few_hits_of_a_few_users_prove_little():
    # 3 of 10 where 2% are hit: one group in 1,200 has as many, and an interval for 2,000 holds 2%
    score = cut_off(ALPHA).up
    sides = []
    for n, rate in ((5000.0, 0.02), (10.0, 0.3)):
        ends = score_interval(np.array([rate]), score**2 / np.array([n]), 1.0)
        sides.append(Published(np.array([n]), np.array([rate]), *ends, ALPHA))
    (found,) = compare_unpaired(sides[:1], sides[1:], [DEPTH_UNPAIRED[:1]], [(0.0, 1.0)], 2 / 2000)
    assert not found.is_beyond_chance[0]
    (found,) = compare_unpaired(sides[:1], sides[1:], [DEPTH_UNPAIRED[:1]], [(0.0, 1.0)], 2 / 200)
    assert found.is_beyond_chance[0]


def test_two_means_are_compared_by_welchs_test():
    found = change_of_means((100, 5.0, 2.0), (400, 5.5, 4.0), 0.05)
    error = np.sqrt(4 / 100 + 16 / 400)
    assert (found.error[0], found.change[0]) == (pytest.approx(error), 0.5)
    # about 350 degrees of freedom
    assert found.high[0] == pytest.approx(0.5 + 1.967 * error, rel=1e-3)
    assert 0.05 < found.p_value[0] < 0.1
    same = change_of_means((10, 1.0, 0.0), (10, 1.0, 0.0), 0.05)
    assert (same.p_value[0], same.low[0], same.high[0]) == (1.0, 0.0, 0.0)
