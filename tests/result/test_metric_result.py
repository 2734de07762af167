"""What is found in each metric, named; its ratios, and changes of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytest import approx

from fairrec.result.metric_result import estimate_change, estimate_mean_change
from fairrec.statistics.missing import Conclusiveness
from tests.builders import audit, make_tables
from tests.compared_audits import audited, users_table
from tests.statistics.small_worlds import random_analysis, results

STANDING = (
    Conclusiveness(0.25, is_conclusive=False, is_constant=True),
    Conclusiveness(0, True, False),
)


def results_of(analysis):
    names = (metric.name for metric in analysis.measured.metrics)
    return dict(zip(names, results(analysis, STANDING), strict=True))


def test_numbers_of_a_metric_are_those_of_its_users():
    analysis = random_analysis(effect=0.6)
    results = results_of(analysis)
    assert [*results] == ["mrr@5", "urp@5"]
    for name, values in zip(results, analysis.measured.values, strict=True):
        found = results[name]
        assert found.mean == approx(np.nanmean(values))
        assert found.sd == approx(np.nanstd(values, ddof=1))
        n_undefined = int(np.isnan(values).sum())
        assert (found.n_undefined, found.n_defined) == (n_undefined, 400 - n_undefined)
        assert found.is_tested
        assert found.gap == approx(found.advantaged.value - found.disadvantaged.value)
    assert results["mrr@5"].higher_is_better is True
    assert results["urp@5"].higher_is_better is None


def test_a_finding_is_named_by_attributes_and_values():
    analysis = random_analysis(effect=0.6)
    found = results_of(analysis)["mrr@5"]
    (finding,) = found.findings
    assert finding.group == found.disadvantaged.group == {"a": 0, "b": 0}
    low, high = finding.interval
    assert low < finding.difference < high < 0
    at_once = finding.simultaneous
    assert at_once[0] < low < high < at_once[1] < 0
    assert finding.difference < finding.shrunken_difference < 0
    assert finding.raw_difference == finding.difference
    # the first metric stands so that nothing is ruled out, yet a group that is worse is
    assert finding.outcome == found.verdict.outcome == "worse"
    assert (found.verdict.tolerance, found.verdict.certificate) == (None, ())
    assert finding.support == finding.n_users
    assert found.n_significant == 1 + finding.n_folded


def test_all_metrics_stand_there_in_the_order_asked_for_with_reasons():
    tables = make_tables(200)
    result = audit(
        tables.predictions,
        tables.users,
        "gender,member",
        metrics=["mrr@3", "urp@3"],
        history=tables.history,
    )
    ratios = result.summary.ratios
    assert [*ratios.metrics] == ["mrr@3", "urp@3"]
    assert ratios.metrics["urp@3"].why_no_ratios == "neither end is better"
    mrr = ratios.metrics["mrr@3"]
    assert mrr.why_no_ratios is None and mrr.threshold is not None
    assert [one.attributes for one in mrr.by] == [("gender",), ("member",), ("gender", "member")]
    by_gender = mrr.by[0]
    n_unknown = result.per_user.filter(gender="(missing)").drop_nulls("mrr@3").height
    assert by_gender.n_unknown == n_unknown > 0
    assert by_gender.groups[-1].left_out == "unknown"
    assert 0 < mrr.gini < 1


NAN = np.nan


def test_change_of_one_user_or_none_claims_nothing():
    one = estimate_change(np.array([0.1]), np.array([0.9]), True, 0.05)
    assert (one.n_users, one.interval, one.p_value, one.verdict) == (
        1,
        None,
        None,
        "not significant",
    )
    none = estimate_change(np.array([NAN]), np.array([0.9]), True, 0.05)
    assert (none.n_users, none.before, none.change, none.verdict) == (0, None, None, "unchanged")


def test_a_change_between_two_sets_of_users_is_that_of_their_means():
    users = users_table()
    metrics = [audited(users, seed).metrics["clicks"] for seed in (1, 2)]
    found = estimate_mean_change(*metrics, 0.05)
    assert found.change == metrics[1].mean - metrics[0].mean
    low, high = found.interval
    error = math.sqrt(sum(part.sd**2 / 600 for part in metrics))
    assert high - low == pytest.approx(2 * 1.962 * error, rel=1e-3)
    assert (
        estimate_mean_change(metrics[0], metrics[1].model_copy(update={"sd": None}), 0.05) is None
    )
