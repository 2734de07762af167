from __future__ import annotations

import numpy as np
import pytest

from fairrec_paper.reproduction.mitigations import FRESH, ORACLE, SAME, SIGNED, mitigation_trial
from fairrec_paper.reproduction.subject import full_combinations
from tests.fairrec_paper.reproduction.trial_rows import silent


def row(subject, way, metric="mrr@5"):
    (only,) = mitigation_trial(subject, metric, way, 9).work(silent)
    return only


def test_an_oracle_puts_every_target_of_the_chosen_groups_first(subject):
    oracle = row(subject, ORACLE)
    assert (oracle["reranker"], oracle["strength"], oracle["after"]) == ("oracle", 1.0, 1.0)
    assert oracle["ndcg_after"] > oracle["ndcg_before"]


def test_groups_are_chosen_on_the_same_or_on_other_targets(subject):
    same, fresh = row(subject, SAME), row(subject, FRESH)
    assert same["chosen_by"] == pytest.approx(same["before"])
    assert fresh["chosen_by"] != pytest.approx(fresh["before"])
    assert same["n_users"] == fresh["n_users"] == 240


def test_the_highest_signed_urp_is_lowered_and_told_as_it_is(subject):
    signed, absolute = row(subject, SAME, SIGNED), row(subject, SAME, "urp@5")
    assert (signed["reranker"], absolute["reranker"]) == ("swap", "popularity_calibrated")
    values = subject.values[subject.metrics.index("urp@5")]
    cells = full_combinations(subject.inputs.attributes).cells
    sizes = np.bincount(cells.of_user)
    means = np.bincount(cells.of_user, values) / sizes
    highest = np.argsort(-means)[: signed["n_groups"]]
    expected = np.average(means[highest], weights=sizes[highest])
    assert signed["before"] == signed["chosen_by"] == pytest.approx(expected)
    assert signed["after"] < signed["before"] <= absolute["before"]
    assert signed["gap_before"] == absolute["gap_before"]
