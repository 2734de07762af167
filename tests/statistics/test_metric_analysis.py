from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.metrics import parse_metric
from fairrec.statistics.findings import analyse_metrics, best_and_worst
from tests.statistics.small_analysis import analysis_of, random_analysis

VALUES = np.array([0.2, 0.8, 0.2, 0.5])
SUPPORT = np.array([5.0, 3.0, 9.0, 4.0])


@pytest.mark.parametrize(
    ("metric", "best", "worst"),
    [
        ("mrr", [1, 3], [2, 0]),
        ("urp_abs", [2, 0], [1, 3]),
        # neither end is better: the highest and the lowest
        ("urp", [1, 3], [2, 0]),
    ],
)
def test_both_ends_in_order_and_of_equals_the_largest_first(metric, best, worst):
    for top in (1, 2, 9):
        found = best_and_worst(parse_metric(metric), VALUES, SUPPORT, top)
        assert [end.tolist() for end in found] == [best[:top], worst[:top]]


@pytest.mark.parametrize(
    ("values", "best", "worst"),
    [
        ([0.5], [], []),
        ([0.1 + 0.2, 0.3, 0.3], [], []),
        ([0.2, 0.2, 0.8, 0.2], [2], [3, 1]),
        ([0.9, 0.5, 0.1], [0], [2]),
        ([], [], []),
    ],
)
def test_no_group_is_both_best_and_worst_and_of_equals_none_is_either(values, best, worst):
    support = np.arange(len(values), dtype=float)
    found = best_and_worst(parse_metric("mrr"), np.array(values), support, 9)
    assert [end.tolist() for end in found] == [best, worst]


def test_gap_ends_and_chance_by_hand():
    # intersections (0, 0), (0, 1), (1, 0), each of two users
    analysis = analysis_of(
        [[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]], "mrr", [0.0, 0.5, 1.0, 1.0, 0.25, 0.25]
    )
    (found,) = analyse_metrics(analysis)
    names = [analysis.grouping.group(int(end[0])).as_dict() for end in (found.best, found.worst)]
    # (0, 0) and (1, 0) have the same mean and as many users
    assert names == [{"a": 0, "b": 1}, {"a": 0, "b": 0}]
    assert found.gap == 1.0 - 0.25
    gaps = analysis.test.gaps[:, 0]
    assert found.chance.mean == approx(gaps.mean())
    assert found.chance.q95 == approx(np.quantile(gaps, 0.95))
    assert found.chance.p_value == approx((1 + (gaps >= 0.75 - 1e-9).sum()) / 100)
    assert found.chance.n_permutations == 99


def test_without_an_intersection_of_enough_users_there_is_no_gap():
    analysis = analysis_of([[0, 0, 1, 1], [0, 1, 0, 1]], "mrr", [0.1, 0.2, 0.3, 0.4], min_users=2)
    (found,) = analyse_metrics(analysis)
    assert (found.gap, found.chance) == (None, None)
    assert len(found.best) == len(found.worst) == 0


def test_the_planted_group_is_the_finding_and_the_combination_carries_it():
    analysis = random_analysis(effect=0.6)
    planted, quiet = analyse_metrics(analysis)
    (finding,) = planted.findings
    assert analysis.grouping.group(finding.position).as_dict() == {"a": 0, "b": 0}
    assert finding.interaction.carried_by == "the combination"
    assert finding.interaction.attributes == (0, 1)
    assert finding.n_folded == analysis.is_beyond_chance[0].sum() - 1
    assert quiet.findings == ()


def test_findings_come_worst_first():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 150)
    values = 0.3 * rng.random(600) + np.array([0.4, 0.2, 0.6, 0.0])[group]
    for metric, sign in (("mrr", -1), ("urp_abs", 1)):
        analysis = analysis_of([group], metric, values)
        (found,) = analyse_metrics(analysis)
        harms = [sign * analysis.estimates.difference[0, f.position] for f in found.findings]
        assert len(harms) >= 3
        assert harms == sorted(harms, reverse=True)


def test_power_is_told_at_sizes_where_a_difference_within_bounds_can_be_found():
    analysis = random_analysis(min_users=5)
    bounded, unbounded = analyse_metrics(analysis)
    # from the smallest group in steps of ten up to half of all users
    assert [*unbounded.detectable] == [5, 50]
    assert set(bounded.detectable) <= {5, 50}
    assert all(difference <= 1 for difference in bounded.detectable.values())
    assert unbounded.detectable[5] > unbounded.detectable[50] > 0
    assert analyse_metrics(random_analysis(permutations=0))[0].detectable == {}
