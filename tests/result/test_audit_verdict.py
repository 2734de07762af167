"""The outcome of an audit in one object."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.result.audit_result import AuditVerdict
from tests.builders import audit, two_groups


def test_a_verdict_has_the_outcome_that_matters_most_and_each_metric():
    """Even users have MRR 1 and odd ones 1/2; both have a list, so coverage is 1 for all."""
    result = audit(
        *two_groups(80), by="group", metrics="mrr@2,coverage@2", tolerance="0.1", permutations=199
    )
    verdict = result.verdict
    assert verdict.outcome == "worse by more"
    assert verdict.metrics["mrr@2"].n_worse_by_more == 1
    assert verdict.metrics["mrr@2"].outcome == "worse by more"
    assert verdict.metrics["coverage@2"].outcome != "worse by more"
    assert [*verdict.metrics] == [*result.metrics]
    assert "mrr@2: worse by more (groups by more: 1, extent unclear: 0, " in repr(verdict)
    assert repr(verdict).startswith("worse by more\n")


@pytest.mark.parametrize(
    ("columns", "outcome"),
    [
        (["stars", "hits"], "not worse by more"),
        (["stars"], "differs by more"),
        (["hits"], "not worse by more"),
    ],
)
def test_a_metric_without_a_better_end_differs_and_never_decides_beside_others(columns, outcome):
    """Half of the users have 0 stars and half have 1; all have about as many hits."""
    group = np.arange(400) % 2
    values = {"stars": group * 1.0, "hits": np.tile([0.0, 0.0, 1.0, 1.0], 100)}
    table = pl.DataFrame({"user_id": range(400), "group": group.astype(str)}).with_columns(
        **{name: pl.Series(values[name]) for name in columns}
    )
    result = fairrec.audit(
        values=table,
        by="group",
        better={"hits": "higher"} if "hits" in columns else {},
        tolerance=",".join(f"{name}=0.3" for name in columns),
        permutations=199,
    )
    assert result.verdict.outcome == outcome
    if "stars" in columns:
        assert result.verdict.metrics["stars"].outcome == "differs by more"
        assert {one.outcome for one in result.metrics["stars"].findings} == {"differs by more"}
        assert {*result.groups("stars")["outcome"]} == {"differs by more"}


def test_the_verdict_of_a_saved_audit_is_the_same(tmp_path):
    result = audit(*two_groups(80), by="group", permutations=199)
    assert result.verdict.outcome == "worse"
    assert fairrec.load(result.save(tmp_path, report=False)).verdict == result.verdict


def test_without_a_test_there_is_no_outcome():
    verdict = audit(*two_groups(), by="group", permutations=0).verdict
    assert (verdict.outcome, verdict.metrics) == (None, {})
    assert verdict == AuditVerdict(None, {})
    assert repr(verdict) == "not tested"
