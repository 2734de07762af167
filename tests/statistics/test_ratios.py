"""Ratios to the best and to the rest, with intervals, and who is left out of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from pytest import approx
from scipy.stats import binomtest

from fairrec.core.audit_options import AuditOptions, Engine
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import MISSING, Attribute
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.statistics.intervals import Interval
from fairrec.statistics.ratios import (
    FAR,
    Means,
    analyse_ratios,
    ratio_limits,
    relative_shortfall,
)
from tests.groups.small_grouping import build_grouping
from tests.statistics.small_worlds import measured_as
from tests.worlds import over_worlds

OPTIONS = AuditOptions(engine=Engine(threads=1))


def ratios_of(measured, grouping, options):
    return [*analyse_ratios(measured, grouping, options).metrics.values()]


def of_rates(hits: dict[str, int], n: dict[str, int], metric="hit@5", min_users=1, **options):
    """The ratios of groups with so many hits among so many users."""
    names = sorted(n, key=lambda name: (name == MISSING, name))
    codes = np.repeat(np.arange(len(names)), [n[name] for name in names]).astype(np.int32)
    values = np.concatenate([np.arange(n[name]) < hits[name] for name in names])
    settings = AuditOptions(**{"engine": Engine(threads=1), "min_support": min_users, **options})
    grouping = Grouping.of([Attribute("a", codes, tuple(names))], settings)
    (found,) = ratios_of(measured_as(metric, values), grouping, settings)
    (categories,) = found.by
    return found, categories


def named(categories, field: str) -> dict:
    """A field of each group, by the value of the only attribute."""
    return {one.group["a"]: getattr(one, field) for one in categories.groups}


def test_a_selection_rate_is_the_mean_of_ones_and_zeros():
    # the table by sex in New York's rules: 54.3% of 92 and 44.7% of 76
    found, by_sex = of_rates({"male": 50, "female": 34}, {"male": 92, "female": 76})
    assert found.threshold is None
    assert named(by_sex, "rate") == approx({"male": 0.543, "female": 0.447}, abs=5e-4)
    assert named(by_sex, "impact_ratio") == approx({"male": 1.0, "female": 0.82}, abs=5e-3)
    assert named(by_sex, "to_best") == named(by_sex, "impact_ratio")
    # of two groups the rest of one is the other, and the lowest is the demographic parity ratio
    assert named(by_sex, "to_rest")["female"] == approx((34 / 76) / (50 / 92))
    assert min(named(by_sex, "to_best").values()) == approx((34 / 76) / (50 / 92))


def test_a_scoring_rate_is_the_share_above_the_median_of_all():
    codes = [0] * 4 + [1] * 5
    values = [0.1, 0.2, 0.9, 0.9, 0.3, 0.5, 0.5, 0.7, np.nan]
    (found,) = ratios_of(measured_as("ndcg@5", values), build_grouping([codes]), OPTIONS)
    assert found.threshold == 0.5
    (by_a,) = found.by
    assert named(by_a, "support") == {0: 4, 1: 4}
    # values equal to the median are not above it
    assert named(by_a, "rate") == {0: 2 / 4, 1: 1 / 4}
    assert named(by_a, "impact_ratio") == {0: 1, 1: 0.5}
    assert named(by_a, "value") == approx({0: 2.1 / 4, 1: 0.5})
    assert named(by_a, "to_best") == approx({0: 1, 1: 0.5 / (2.1 / 4)})


def test_the_interval_to_the_rest_is_made_of_both_intervals():
    _, found = of_rates({"x": 30, "y": 90, "z": 60}, {"x": 200, "y": 300, "z": 250})
    (of_x,) = (one for one in found.groups if one.group == {"a": "x"})
    ends = [
        binomtest(hits, n).proportion_ci(method="wilson") for hits, n in ((30, 200), (150, 550))
    ]
    mean, other = (np.array([hits / n]) for hits, n in ((30, 200), (150, 550)))
    low, high = ratio_limits(
        mean,
        (np.array([ends[0].low]), np.array([ends[0].high])),
        other,
        (np.array([ends[1].low]), np.array([ends[1].high])),
    )
    assert of_x.to_rest == approx((30 / 200) / (150 / 550))
    assert of_x.to_rest_interval == approx((low[0], high[0]))


def test_the_interval_to_the_best_is_the_lowest_of_those_to_each_other_group():
    hits, n = {"x": 30, "y": 90, "z": 80}, {"x": 200, "y": 300, "z": 250}
    _, found = of_rates(hits, n)

    def end(one: str, other: str, tail: float, which: int) -> float:
        one, other = (
            Means(np.array([n[g]]), np.array([hits[g] / n[g]]), np.zeros(1), 1.0, 1.0, True)
            for g in (one, other)
        )
        both = ratio_limits(one.mean, one.limits(tail), other.mean, other.limits(tail))
        return both[which][0]

    ends = named(found, "to_best_interval")
    low, high = ({group: one[at] for group, one in ends.items()} for at in (0, 1))
    assert low["x"] == approx(min(end("x", other, 0.025, 0) for other in "yz"))
    # any of the two may be the best
    assert high["x"] == approx(min(end("x", other, 0.0125, 1) for other in "yz"))
    # z is best, by how much nobody knows
    assert named(found, "to_best")["z"] == 1 == high["z"]
    assert low["z"] == approx(min(end("z", other, 0.025, 0) for other in "xy")) and low["z"] < 1


def test_what_the_rule_says_and_whether_the_interval_settles_it():
    n = dict.fromkeys("abcdef", 1000)
    hits = {"a": 100, "b": 230, "c": 250, "d": 300, "e": 300, "f": 280}
    _, found = of_rates(hits, n)
    said = named(found, "four_fifths")
    assert said["a"] == "below"
    assert said["b"] == "below, uncertain"
    assert said["c"] == "not below, uncertain"
    assert said["e"] == "not below"
    # the lowest ratio comes first
    to_best = [*named(found, "to_best").values()]
    assert next(iter(said)) == "a" and to_best == sorted(to_best)


def test_exactly_four_fifths_are_not_below():
    for low, high in ((240, 300), (80, 100), (56, 70), (276, 345)):
        _, found = of_rates({"x": low, "y": high}, {"x": 1000, "y": 1000})
        assert found.groups[0].four_fifths == "not below, uncertain"
    _, found = of_rates({"x": 239, "y": 300}, {"x": 1000, "y": 1000})
    assert found.groups[0].four_fifths == "below, uncertain"


def test_small_and_unknown_categories_are_shown_and_left_out_of_the_comparison():
    hits = {"x": 100, "y": 50, "tiny": 9, MISSING: 30, "few": 1}
    n = {"x": 500, "y": 500, "tiny": 10, MISSING: 40, "few": 2}
    _, found = of_rates(hits, n, min_users=5)
    left_out = named(found, "left_out")
    assert left_out == {"y": None, "x": None, "tiny": "small", MISSING: "unknown"}
    assert [*left_out][2:] == ["tiny", MISSING]
    # 90% of the small category is not the best
    assert named(found, "to_best")["y"] == named(found, "impact_ratio")["y"] == 0.5
    for name in ("tiny", MISSING):
        assert named(found, "to_best")[name] is None
        assert named(found, "impact_ratio")[name] is None
        assert named(found, "four_fifths")[name] is None
    assert named(found, "rate")["tiny"] == 0.9
    # but they have a ratio to all others
    assert named(found, "to_rest")["tiny"] == approx(0.9 / (181 / 1042))
    assert (found.n_unknown, found.n_not_listed) == (40, 1)


def test_each_attribute_and_each_pair_is_compared_by_itself():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, n, 300) for n in (2, 3, 2)]
    measured = measured_as("hit@5", rng.random(300) < 0.5)
    for depth, pairs in ((3, 3), ("full", 3), (1, 0)):
        options = AuditOptions(engine=Engine(threads=1), depth=depth, min_support=1)
        (found,) = ratios_of(measured, build_grouping(codes), options)
        assert len(found.by) == 3 + pairs
        for one in found.by:
            assert max(group.to_best for group in one.groups) == 1
            assert sum(group.support for group in one.groups) == 300
    pair = ratios_of(measured, build_grouping(codes), OPTIONS)[0].by[4]
    assert pair.attributes == ("a", "c")
    for group in pair.groups:
        is_member = (codes[0] == group.group["a"]) & (codes[2] == group.group["c"])
        assert group.value == approx(measured.values[0, is_member].mean())
        assert group.to_rest == approx(
            measured.values[0, is_member].mean() / measured.values[0, ~is_member].mean()
        )


@pytest.mark.parametrize(
    ("higher_is_better", "is_complete", "reason"),
    [
        (None, True, "neither end is better"),
        (False, True, "lower is better"),
        (True, False, "not all are scored"),
    ],
)
def test_metrics_without_a_ratio_say_why(higher_is_better, is_complete, reason):
    metric = replace(parse_metric("auc").metric, higher_is_better=higher_is_better)
    measured = replace(
        measured_as("mrr@5", [0.5, 1.0]),
        metrics=(MetricAtK(metric, None),),
        is_scored=np.array([True, is_complete]),
    )
    (found,) = ratios_of(measured, build_grouping([[0, 1]]), OPTIONS)
    assert (found.why_no_ratios, found.by) == (reason, ())


@over_worlds(300)
@pytest.mark.parametrize("ratio", [1.0, 0.8, 0.5])
def test_intervals_to_the_best_cover_whichever_group_is_lucky(ratio, n_worlds):
    rng = np.random.default_rng(1)
    grouping = build_grouping([np.repeat(np.arange(10), 200)])
    rates = np.repeat([0.2 * ratio, *[0.2] * 9], 200)
    n_covered = 0
    for _ in range(n_worlds):
        (found,) = ratios_of(measured_as("hit@5", rng.random(2000) < rates), grouping, OPTIONS)
        low, high = named(found.by[0], "to_best_interval")[0]
        n_covered += low <= ratio <= high
    # the interval to the group that looks best alone covers in 80% to 90% of cases
    assert n_covered / n_worlds > 0.94


TAIL = 0.025


def rates(hits, n) -> Means:
    n, hits = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(hits, dtype=float))
    mean = hits / n
    return Means(n, mean, n * mean * (1 - mean), 1.0, 1.0, is_rate=True)


def interval(one: Means, other: Means) -> tuple[np.ndarray, np.ndarray]:
    return ratio_limits(one.mean, one.limits(TAIL), other.mean, other.limits(TAIL))


def test_the_interval_of_a_ratio_is_that_of_donner_and_zou():
    one, other = rates([12], 80), rates([90], 300)
    (l1,), (u1,) = one.limits(TAIL)
    (l2,), (u2,) = other.limits(TAIL)
    m1, m2 = 12 / 80, 90 / 300
    low, high = interval(one, other)
    # as printed in their paper, where the denominators must not be 0
    assert low[0] == approx(
        (m1 * m2 - math.sqrt((m1 * m2) ** 2 - l1 * u2 * (2 * m1 - l1) * (2 * m2 - u2)))
        / (u2 * (2 * m2 - u2))
    )
    assert high[0] == approx(
        (m1 * m2 + math.sqrt((m1 * m2) ** 2 - u1 * l2 * (2 * m1 - u1) * (2 * m2 - l2)))
        / (l2 * (2 * m2 - l2))
    )


ERROR = 0.1 / FAR


def of_one(harm, low, high, others, is_gain=True, error=ERROR):
    arrays = (np.array([float(one)]) for one in (low, high))
    return relative_shortfall(
        np.array([harm]), Interval(*arrays), np.array([others]), np.array([error]), is_gain
    )


def test_a_harm_is_a_share_of_what_the_others_have():
    found = of_one(0.2, 0.1, 0.3, 1.0)
    assert found.size == pytest.approx([0.2])
    # beside the others at their most and at their least
    assert found.interval.low == pytest.approx([0.1 / 1.1])
    assert found.interval.high == pytest.approx([0.3 / 0.9])
    assert found.is_sure.all()
