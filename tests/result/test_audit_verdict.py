"""The outcome of an audit in one object."""

from __future__ import annotations

import fairrec
from fairrec.result.audit_verdict import AuditVerdict
from tests.builders import audit, two_groups


def test_a_verdict_has_the_outcome_that_matters_most_and_each_metric():
    """Even users have MRR 1 and odd ones 1/2; both have a list, so coverage is 1 for all."""
    result = audit(
        *two_groups(80), by="group", metrics="mrr@2,coverage@2", matters="0.1", permutations=199
    )
    verdict = result.verdict
    assert verdict.outcome == "worse by more"
    assert verdict.metrics["mrr@2"].n_worse_by_more == 1
    assert verdict.metrics["mrr@2"].outcome == "worse by more"
    assert verdict.metrics["coverage@2"].outcome != "worse by more"
    assert [*verdict.metrics] == [*result.metrics]
    assert "mrr@2: worse by more (groups worse by more: 1" in repr(verdict)
    assert repr(verdict).startswith("worse by more\n")


def test_the_verdict_of_a_saved_audit_is_the_same(tmp_path):
    result = audit(*two_groups(80), by="group", permutations=199)
    assert result.verdict.outcome == "worse"
    assert fairrec.load(result.save(tmp_path, report=False)).verdict == result.verdict


def test_without_a_test_there_is_no_outcome():
    verdict = audit(*two_groups(), by="group", permutations=0).verdict
    assert (verdict.outcome, verdict.metrics) == (None, {})
    assert verdict == AuditVerdict(None, {})
    assert repr(verdict) == "not tested"
