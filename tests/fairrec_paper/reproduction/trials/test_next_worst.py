from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec_paper.reproduction.methods import EXACT, RANDOM
from fairrec_paper.reproduction.mitigation_trials import NUMBERS, next_worst_trial
from fairrec_paper.reproduction.subject import full_combinations
from tests.fairrec_paper.reproduction.trial_rows import silent


def rows(subject, method, seed=0):
    return next_worst_trial(subject, "mrr@5", method, seed).work(silent)


def test_with_everyone_scored_the_groups_are_the_worst_by_hand(subject):
    chosen_by = subject.recommender.predictions("validation")
    tables = {**subject.recommender.tables, "metrics": ["mrr@5"]}
    inputs, wanted = read_inputs(chosen_by, **tables)
    (values,) = measure_everyone(inputs, wanted, 1).values
    cells = full_combinations(inputs.attributes).cells
    sizes = np.bincount(cells.of_user)
    means = np.bincount(cells.of_user, values) / sizes
    for row, n in zip(rows(subject, EXACT), NUMBERS, strict=True):
        worst = np.argsort(means, kind="stable")[:n]
        assert (row["worst"], row["n_groups"], row["among_worst"]) == (n, n, 1.0)
        assert row["chosen_by"] == pytest.approx(np.average(means[worst], weights=sizes[worst]))
        assert row["users"] == len(values)


def test_a_search_under_a_budget_finds_some_of_them_and_others(subject):
    fifth = replace(RANDOM, users=0.2)
    found = rows(subject, fifth)
    assert all(row["users"] <= 0.2 * row["n_users"] for row in found)
    assert found[0]["among_worst"] in (0.0, 1.0)
    # what is not among the worst is better served where it was chosen
    for row, exact in zip(found, rows(subject, EXACT), strict=True):
        assert row["chosen_by"] >= exact["chosen_by"]
        assert row["better_by"] == pytest.approx(row["after"] - row["before"])


def test_a_search_that_completes_no_group_changes_nothing(subject):
    one_user = replace(RANDOM, users=0.001)
    for row in rows(subject, one_user):
        assert (row["users"], row["n_groups"], row["among_worst"]) == (1, 0, 0.0)
        assert "after" not in row
