from __future__ import annotations

from dataclasses import replace

import pytest

from fairrec_paper.reproduction.methods import (
    ADAPTIVE,
    DPSO,
    EXACT,
    THEMIS,
    Method,
    chance_trial,
    search_trial,
)
from tests.fairrec_paper.reproduction.trial_rows import silent

LABELS = {"dataset": "movielens-1m", "model": "taste"}


def found(subject, method, seed=0):
    return {row["metric"]: row for row in search_trial(subject, LABELS, method, seed).work(silent)}


def test_both_ways_to_the_exact_gap_find_it_in_every_metric(subject):
    exact = {row["metric"]: row["gap"] for row in chance_trial(subject, LABELS, 1).work(silent)}
    for method in (THEMIS, EXACT):
        rows = found(subject, method)
        assert {*rows} == {*subject.metrics}
        for metric, row in rows.items():
            assert row["gap"] == pytest.approx(exact[metric], rel=0, abs=1e-12)
    assert rows["auc"]["users"] == rows["auc"]["users_together"] == 240


def test_a_budget_in_users_is_kept_by_each_search(subject):
    quick = {"findings": 0.0, "steps": 1, "at_once": 16}
    rows = found(subject, replace(ADAPTIVE, users=0.1, hyper=quick))
    assert all(row["users"] <= 24 for row in rows.values())
    assert {row["limit"] for row in rows.values()} == {None}


def test_a_budget_in_combinations_is_kept_by_each_search(subject):
    space = subject.space(0.001)
    random = Method("random", "random", combinations=0.5)
    for method in (random, replace(DPSO, combinations=0.5)):
        for row in found(subject, method).values():
            assert row["combinations"] <= space.n_combinations // 2
            assert row["n_combinations"] == space.n_combinations
    assert {row["combinations"] for row in found(subject, THEMIS).values()} == {
        space.n_combinations
    }


def test_in_fixed_time_each_search_pays_for_itself(subject):
    rows = found(subject, replace(DPSO, fixed_time=True))
    assert {row["users_together"] for row in rows.values()} == {None}
    (limit,) = {row["limit"] for row in rows.values()}
    assert limit == pytest.approx(0.005 * (240 + 18))


def test_what_determines_a_search_is_in_its_name(subject):
    methods = (
        *(DPSO, replace(DPSO, users=0.1), replace(DPSO, hyper={"epsilon": 0.2})),
        replace(DPSO, combinations=0.1),
    )
    abouts = [search_trial(subject, LABELS, method, 0).identity(silent) for method in methods]
    abouts.append(search_trial(subject, LABELS, DPSO, 1).identity(silent))
    assert len({str(about) for about in abouts}) == 5
    # a title is only a label
    renamed = search_trial(subject, LABELS, replace(DPSO, title="other"), 0)
    assert renamed.identity(silent) == abouts[0]
    assert renamed.labels["method"] == "other"
