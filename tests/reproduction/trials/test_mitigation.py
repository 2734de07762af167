from __future__ import annotations

import pytest

from fairrec.reproduction.trials.mitigation import FRESH, ORACLE, SAME, mitigation_trial
from tests.reproduction.trial_rows import silent


def row(subject, way):
    (only,) = mitigation_trial(subject, "mrr@5", way, 9).work(silent)
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
