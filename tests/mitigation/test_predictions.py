"""Lists with new scores as a table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics.reading import read_inputs
from fairrec.mitigation.result import predictions_table

# user b comes first in the table, a in the order of the ids
ROWS = pl.DataFrame(
    {
        "user_id": ["b", "b", "a", "a", "a"],
        "item_id": [7, 5, 5, 9, 7],
        "score": [0.1, 0.2, 0.3, 0.4, 0.5],
        "label": [1, 0, 0, 1, 0],
    }
)
NEW = np.array([5.0, 4.0, 3.0, 2.0, 1.0])


def inputs_of(rows: pl.DataFrame) -> AuditInputs:
    users = pl.DataFrame({"user_id": ["a", "b"], "gender": ["F", "M"]})
    history = pl.DataFrame({"user_id": ["a"], "item_id": [5]})
    inputs, _ = read_inputs(rows, users=users, by="gender", history=history, metrics="urp@1")
    return inputs


@pytest.mark.parametrize("rows", [ROWS, ROWS.drop("label")], ids=["labels", "no labels"])
def test_rows_come_out_as_they_came_with_the_new_scores(rows):
    wants = ("user_id", "item_id", "label") if "label" in rows.columns else ("user_id", "item_id")
    table = predictions_table(inputs_of(rows), NEW)
    assert {*table.columns} == {*wants, "score"}
    for name in wants:
        assert table[name].to_list() == rows[name].to_list()
    assert table["score"].to_list() == NEW.tolist()


def test_the_models_scores_stand_beside_them_where_asked_for():
    table = predictions_table(inputs_of(ROWS), NEW, with_model_score=True)
    assert table["model_score"].to_list() == ROWS["score"].to_list()
    assert "model_score" not in predictions_table(inputs_of(ROWS), NEW).columns
