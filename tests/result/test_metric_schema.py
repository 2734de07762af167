from __future__ import annotations

import json

from fairrec.result.schema import AuditSummary
from tests.builders import audit, make_tables
from tests.report.text.planted_report import planted_result

TABLES = make_tables()
RESULT = audit(TABLES.predictions, TABLES.users, "gender,age:20", metrics="auc,pooled_auc")


def test_contributions_of_an_older_result_are_passed_over():
    planted = planted_result().summary
    written = json.loads(planted.model_dump_json())
    finding = written["metrics"]["auc"]["findings"][0]
    del finding["interaction"], written["metrics"]["auc"]["unknown"]
    finding["contributions"] = {"gender": -0.2, "age": -0.3}
    older = AuditSummary.model_validate(written).metrics["auc"]
    assert older.findings[0].interaction is None
    assert older.findings[0].group == planted.metrics["auc"].findings[0].group
    assert older.unknown == ()


def test_an_older_result_gives_no_all_clear_over_users_without_a_value():
    written = json.loads(RESULT.to_json())
    for n_undefined, is_conclusive in ((0, True), (1, True), (30, False)):
        auc = {
            name: value
            for name, value in written["metrics"]["auc"].items()
            if name not in ("undefined_share", "is_conclusive", "is_constant")
        }
        auc |= {"n_defined": 70, "n_undefined": n_undefined}
        older = AuditSummary.model_validate({**written, "metrics": {"auc": auc}})
        assert older.metrics["auc"].is_conclusive is is_conclusive
        assert older.metrics["auc"].undefined_share == n_undefined / (70 + n_undefined)
