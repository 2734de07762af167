from __future__ import annotations

import numpy as np
from pytest import approx

from fairrec.result.metric_result import metric_results
from fairrec.statistics.metric_analysis import analyse_metrics
from fairrec.statistics.missing import Standing
from fairrec.statistics.verdict import verdicts_of
from tests.builders import audit, two_groups
from tests.statistics.small_analysis import random_analysis

STANDING = (Standing(0.25, is_conclusive=False, is_constant=True), Standing(0, True, False))


def results_of(analysis):
    verdicts = verdicts_of(analysis, [stands.is_conclusive for stands in STANDING])
    return metric_results(analysis, analyse_metrics(analysis), STANDING, verdicts)


def test_how_a_metric_stands_is_said_of_the_right_one():
    analysis = random_analysis()
    results = results_of(analysis)
    for found, standing in zip(results.values(), STANDING, strict=True):
        assert found.undefined_share == standing.undefined_share
        assert found.is_conclusive == standing.is_conclusive
        assert found.is_constant == standing.is_constant


def test_numbers_of_a_metric_are_those_of_its_users():
    analysis = random_analysis(effect=0.6)
    results = results_of(analysis)
    assert [*results] == ["mrr@5", "urp@5"]
    for i, (name, values) in enumerate(zip(results, analysis.measured.values, strict=True)):
        found = results[name]
        assert found.mean == approx(np.nanmean(values))
        assert found.sd == approx(np.nanstd(values, ddof=1))
        n_undefined = int(np.isnan(values).sum())
        assert (found.n_undefined, found.n_defined) == (n_undefined, 400 - n_undefined)
        assert found.is_tested
        depth = analysis.grouping.lattice.depth
        for at, tails in found.critical_tails.items():
            is_here = analysis.is_tested[i] & (depth == at)
            assert [{*tail} for tail in analysis.critical[:, i, is_here]] == [
                {one} for one in tails
            ]
        assert found.gap == approx(found.advantaged.value - found.disadvantaged.value)
    assert results["mrr@5"].higher_is_better is True
    assert results["urp@5"].higher_is_better is None


def test_a_finding_is_named_by_attributes_and_values():
    analysis = random_analysis(effect=0.6)
    found = results_of(analysis)["mrr@5"]
    (finding,) = found.findings
    assert finding.group == found.disadvantaged.group == {"a": 0, "b": 0}
    carried = finding.interaction
    assert carried.carried_by == "the combination"
    assert carried.neighbours[0].is_met == {"a": True, "b": True}
    assert carried.neighbours[0].value == approx(finding.value)
    assert [*carried.neighbours[1].is_met.values()] == [True, False]
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


def test_without_permutations_there_is_no_chance_level_and_no_finding():
    analysis = random_analysis(effect=0.6, permutations=0)
    found = results_of(analysis)["mrr@5"]
    assert (found.is_tested, found.critical_tails, found.chance) == (False, None, None)
    assert (found.findings, found.n_significant, found.detectable) == ((), 0, ())
    assert (found.verdict, found.varying) == (None, ())
    assert found.gap is not None


def test_a_pooled_metric_has_ends_and_a_gap_but_no_test():
    # of everyone's four candidates one is relevant, at place 1 or at place 2
    result = audit(*two_groups(), by="group", metrics="pooled_auc", top=2)
    found = result.metric("pooled_auc")
    assert [end.value for end in found.most_advantaged] == [1]
    assert [end.group["group"] for end in found.most_disadvantaged] == ["odd"]
    assert found.gap == approx(1 / 3)
    assert (found.is_tested, found.sd, found.findings) == (False, None, ())
    assert (found.n_groups, found.n_defined, found.n_undefined) == (2, 8, 0)
