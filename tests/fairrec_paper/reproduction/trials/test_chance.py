from __future__ import annotations

import numpy as np
import pytest

from fairrec_paper.reproduction.methods import chance_trial
from tests.fairrec_paper.reproduction.trial_rows import silent

LABELS = {"dataset": "movielens-1m", "model": "taste"}


def test_the_gap_is_between_the_best_and_the_worst_group(subject):
    trial = chance_trial(subject, LABELS, 19, min_support=0.05)
    rows = {row["metric"]: row for row in trial.work(silent)}
    assert [*rows][:2] == ["auc", "pooled_auc"]
    space = subject.space(0.05)
    of_user = space.cells.of_user
    values = subject.values[subject.metrics.index("auc")]
    means = [
        values[of_user == cell].mean()
        for cell in range(len(space.cells.n_users))
        if (of_user == cell).sum() >= 12
    ]
    assert rows["auc"]["gap"] == pytest.approx(max(means) - min(means))
    assert rows["auc"]["mean"] == pytest.approx(values.mean())
    assert (rows["auc"]["n_groups"], rows["auc"]["min_users"]) == (len(means), 12)


def test_chance_is_what_permutations_show_and_the_pooled_auc_is_not_tested(subject):
    rows = {row["metric"]: row for row in chance_trial(subject, LABELS, 19).work(silent)}
    auc = rows["auc"]
    assert len(auc["by_chance"]) == 19
    assert auc["by_chance"] == sorted(auc["by_chance"])
    assert auc["chance_mean"] == pytest.approx(np.mean(auc["by_chance"]))
    as_large = sum(gap >= auc["gap"] for gap in auc["by_chance"])
    assert auc["p_value"] == pytest.approx((1 + as_large) / 20)
    assert rows["pooled_auc"]["p_value"] is None
    assert rows["pooled_auc"]["gap"] > 0


def test_attributes_and_permutations_make_another_trial(subject):
    def about(permutations, by=None):
        return chance_trial(subject, LABELS, permutations, by=by).identity(silent)

    assert about(19) == about(19)
    assert len({str(one) for one in (about(19), about(20), about(19, ["age"]))}) == 3
