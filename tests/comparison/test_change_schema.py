from __future__ import annotations

import pytest
from pydantic import ValidationError

from fairrec.result.metric_schema import Change

CHANGE = Change(
    n_users=3, before=0.5, after=0.75, change=0.25, interval=None, p_value=0.2, verdict="improved"
)


def test_a_change_is_written_and_read_again_and_nothing_else_is_taken():
    assert Change.model_validate_json(CHANGE.model_dump_json()) == CHANGE
    for odd in ({"verdict": "fair"}, {"more": 1}, {"n_users": 2.5}):
        with pytest.raises(ValidationError):
            Change(**{**CHANGE.model_dump(), **odd})
    with pytest.raises(ValidationError, match="frozen"):
        CHANGE.verdict = "worse"
