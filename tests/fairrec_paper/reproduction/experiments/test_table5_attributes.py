from __future__ import annotations

import polars as pl
import pytest

from fairrec_paper.reproduction.gaps import outcome_of_attributes, plan_attributes
from tests.fairrec_paper.reproduction.trial_rows import silent


def test_attributes_are_added_in_the_order_of_the_paper(setting):
    assert [trial.labels["attributes"] for trial in plan_attributes(setting)] == [
        "gender",
        "gender, age",
        "gender, age, occupation",
    ]


def test_a_gap_stands_beside_the_published_and_as_a_multiple_of_chance(setting):
    trials = plan_attributes(setting)
    rows = [{**trial.labels, **row} for trial in trials for row in trial.work(silent)]
    frames = {"chance": pl.DataFrame(rows, infer_schema_length=None)}
    (table,) = outcome_of_attributes(setting, frames).tables
    first = table.data.filter(attributes="gender, age", metric="urp@5").row(0, named=True)
    assert first["published"] == 0.0137
    assert first["times_chance"] == pytest.approx(first["gap"] / first["chance_mean"])
    # the paper's auc is the pooled one and stands beside both
    both = table.data.filter(pl.col("metric").str.contains("auc"), attributes="gender")
    assert both["published"].n_unique() == 1
    assert both["published"].null_count() == 0
