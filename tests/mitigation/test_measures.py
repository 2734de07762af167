"""What is measured of the lists."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.inputs.table_options import TableOptions
from fairrec.mitigation.fitted_reranker import Rescored
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.splitting import Measures, read_split
from tests.mitigation.planted import planted

WORLD = planted("accuracy", n_users=24)


@pytest.mark.parametrize("has_labels", [True, False])
def test_target_and_cost_are_measured_at_every_strength(has_labels):
    lists = WORLD.predictions if has_labels else WORLD.predictions.drop("label")
    names = ["urd@5", *(["mrr@5", "ndcg@5"] if has_labels else [])]
    tables = TableOptions(users=WORLD.users, by="gender", items=WORLD.items, metrics=names)
    split = read_split(lists, None, tables, seed=0)
    inputs = split.everyone
    measures = Measures.of(split.per_user_metrics, MitigationOptions("urd@5"), threads=1)
    assert measures.cost_name == ("ndcg@5" if has_labels else None)
    steps = []
    unchanged = Rescored(inputs.candidates.scores, None)
    measured = measures.at_strengths(
        unchanged, inputs, (0.0, 1.0), lambda *step: steps.append(step)
    )
    assert steps == [("tuning the strength", 0, 2), ("tuning the strength", 1, 2)]
    values = measures.values(inputs)
    for target, cost in measured:
        assert np.array_equal(target, values[0])
        expected = values[2] if has_labels else np.full(24, np.nan)
        assert np.array_equal(cost, expected, equal_nan=True)
