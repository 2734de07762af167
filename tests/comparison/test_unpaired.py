"""Groups of two audits without common users, from what each tells of them."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.comparison.paired_audits import cut_off, levels_of
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.statistics.intervals import estimate, score_interval
from fairrec.statistics.moments import group_moments
from fairrec.statistics.scores import own_spread
from fairrec.statistics.unpaired import (
    UNBOUNDED,
    Published,
    bounds_of,
    change_of_means,
    compare_unpaired,
    side_of,
)

ALPHA = 0.1
CODES = np.repeat(np.arange(5), [12, 40, 40, 200, 200]).astype(np.int32)
GROUPING = Grouping.of(
    (Attribute("who", CODES, (*"abcde",)),), AuditOptions(depth=1, min_support=1, threads=1)
)
N, DEPTH = len(CODES), GROUPING.lattice.depth
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
    found = bounds_of([published], bounds)
    assert found == (bounds or UNBOUNDED)
    published = published._replace(sd=float(moments.sd[0]))
    side, spread = side_of(published, found), own_spread(moments)
    if bounds:
        assert side.spread.dispersion == pytest.approx(spread.dispersion[0])
    else:
        assert side.spread.variance == pytest.approx(spread.variance[0])
    assert side.spread.freedom == pytest.approx(spread.freedom[0])


def test_bounds_that_nobody_named_are_those_of_rates_or_none():
    _, hits = told(KINDS["hits"][0](np.random.default_rng(0)), None)
    # two values are a rate, whoever says so
    assert bounds_of([hits], None) == (0.0, 1.0)
    wide = hits._replace(value=3 + hits.value, low=3 + hits.low, high=3 + hits.high)
    assert bounds_of([wide], None) == UNBOUNDED
    even = hits._replace(low=hits.value - 0.1, high=hits.value + 0.1)
    assert bounds_of([even], (0.0, 1.0)) == UNBOUNDED


def test_two_samples_differ_where_they_do_and_the_groups_are_those_of_the_candidate():
    rng = np.random.default_rng(1)
    before, after = rng.normal(5, 1, N), rng.normal(5, 1, N)
    after[CODES == 3] -= 1.0
    first, last = told(before, None)[1], told(after, None)[1]
    last = last._replace(n=last.n + 1)
    (found,) = compare_unpaired([first], [last], [DEPTH], [None], 0.05)
    assert found.n.tolist() == last.n.tolist()
    assert found.is_beyond_chance.tolist() == [False, False, False, True, False]
    assert found.change == pytest.approx(found.after - found.before)
    both = np.sqrt(before[CODES == 3].var(ddof=1) / 200 + after[CODES == 3].var(ddof=1) / 200)
    assert found.error[3] == pytest.approx(both, rel=0.02)


def test_a_group_without_an_interval_is_not_known_and_costs_nothing():
    _, published = told(KINDS["amounts"][0](np.random.default_rng(0)), None)
    holes = np.array([np.nan, 0, 0, 0, 0])
    partial = published._replace(low=published.low + holes)
    (found,) = compare_unpaired([partial], [published], [DEPTH], [None], 0.05)
    assert found.is_known.tolist() == [False, True, True, True, True]
    (everything,) = compare_unpaired([published], [published], [DEPTH], [None], 0.05)
    assert found.interval.high[1] < everything.interval.high[1]


def test_all_others_are_what_is_left_of_the_sums_of_everyone():
    rng = np.random.default_rng(2)
    before, after = rng.gamma(2, 3, N), rng.gamma(2, 3, N) - 1
    after[CODES == 3] -= 4
    sides = []
    for values in (before, after):
        _, published = told(values, None)
        sides.append(published._replace(sd=values.std(), n_all=N, mean=values.mean()))
    (found,) = compare_unpaired(sides[:1], sides[1:], [DEPTH], [None], 0.05)
    is_in = CODES == 3
    change, of_others = (after[who].mean() - before[who].mean() for who in (is_in, ~is_in))
    assert found.difference[3] == pytest.approx(change - of_others)
    # others of the last fell, with those who lost among them
    assert found.differs.tolist() == [False, False, False, True, True]
    # the interval adds the error of the others' change to that of the group's own
    far = cut_off(levels_of(DEPTH, DEPTH, 0.05)[3]).up
    far *= np.sqrt(sum(values[~is_in].var() for values in (before, after)) / (~is_in).sum())
    up = found.interval.high[3] - found.change[3]
    assert found.difference_interval.high[3] - found.difference[3] == pytest.approx(
        np.hypot(up, far), rel=0.01
    )
    # without an error of the mean of all nothing is known of the others
    blind = [side._replace(sd=0.0) for side in sides]
    (found,) = compare_unpaired(blind[:1], blind[1:], [DEPTH], [None], 0.05)
    assert not found.differs.any() and np.isnan(found.difference_interval.low).all()


def test_two_means_are_compared_by_welchs_test():
    found = change_of_means((100, 5.0, 2.0), (400, 5.5, 4.0), 0.05)
    error = np.sqrt(4 / 100 + 16 / 400)
    assert found.error[0] == pytest.approx(error)
    assert found.change[0] == 0.5
    # about 350 degrees of freedom
    assert found.high[0] == pytest.approx(0.5 + 1.967 * error, rel=1e-3)
    assert 0.05 < found.p_value[0] < 0.1
    same = change_of_means((10, 1.0, 0.0), (10, 1.0, 0.0), 0.05)
    assert (same.p_value[0], same.low[0], same.high[0]) == (1.0, 0.0, 0.0)


def test_a_handful_who_look_alike_vary_as_all_users_do():
    n, flat = np.array([20.0, 5000.0]), np.array([0.1, 0.1])
    ends = np.array([-1.2, 0.86]), np.array([3.2, 1.14])
    base = Published(n, np.array([1.0, 1.0]), *ends, 0.05, 5)
    # of 20 users nobody has bought anything
    few = Published(n, np.array([0.05, 1.0]), -flat, np.array([0.2, 2.1]), 0.05, 5)
    (found,) = compare_unpaired([base], [few], [DEPTH[:2]], [None], 0.05)
    assert found.error[0] > np.hypot(1, 1)
    assert not found.is_beyond_chance[0]


def test_a_few_hits_of_a_few_users_prove_little():
    # 3 of 10 where 2% are hit: one group in 1,200 has as many, and an interval for 2,000 holds 2%
    score = cut_off(ALPHA).up
    sides = []
    for n, rate in ((5000.0, 0.02), (10.0, 0.3)):
        ends = score_interval(np.array([rate]), score**2 / np.array([n]), 1.0)
        sides.append(Published(np.array([n]), np.array([rate]), *ends, ALPHA))
    (found,) = compare_unpaired(sides[:1], sides[1:], [DEPTH[:1]], [(0.0, 1.0)], 2 / 2000)
    assert not found.is_beyond_chance[0]
    (found,) = compare_unpaired(sides[:1], sides[1:], [DEPTH[:1]], [(0.0, 1.0)], 2 / 200)
    assert found.is_beyond_chance[0]
