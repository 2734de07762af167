from __future__ import annotations

import json

import jsonschema
import pytest
from pydantic import ValidationError

from fairrec.result.parts import Part
from fairrec.result.schema import AuditSummary
from tests.builders import audit, make_tables

TABLES = make_tables()
RESULT = audit(TABLES.predictions, TABLES.users, "gender,age:20", metrics="auc,pooled_auc")


def parts(kind: type[Part] = Part) -> list[type[Part]]:
    return [one for child in kind.__subclasses__() for one in (child, *parts(child))]


def test_a_summary_is_written_and_read_again():
    text = RESULT.to_json()
    assert AuditSummary.model_validate_json(text) == RESULT.summary
    schema = AuditSummary.model_json_schema()
    jsonschema.validators.validator_for(schema)(schema).validate(json.loads(text))


def test_what_the_schema_does_not_know_is_refused():
    written = json.loads(RESULT.to_json())
    for odd in (
        {"schema_version": "9"},
        {"verdict": "fair"},
        {"depth": "deep"},
    ):
        with pytest.raises(ValidationError):
            AuditSummary.model_validate({**written, **odd})
    for name in ("metrics", "coverage", "warnings"):
        with pytest.raises(ValidationError, match="Field required"):
            AuditSummary.model_validate({k: v for k, v in written.items() if k != name})


def test_no_part_of_a_result_can_be_changed_or_added_to():
    assert len(parts()) > 10
    for part in parts():
        assert part.model_config["frozen"]
        assert part.model_config["extra"] == "forbid"
    with pytest.raises(ValidationError, match="frozen"):
        RESULT.summary.seed = 1
