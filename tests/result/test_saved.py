"""The files of a saved audit."""

from __future__ import annotations

import pytest

from fairrec.core.errors import InputError
from fairrec.result.saved import load_per_user, load_summary
from tests.builders import audit, two_groups


def test_users_that_were_not_saved_are_none(tmp_path):
    assert load_per_user(tmp_path, "") is None


@pytest.mark.parametrize("part", [{"attributes": {}}, {"metrics": {}}])
def test_a_summary_that_nothing_can_be_made_of_is_refused(tmp_path, part):
    summary = audit(*two_groups(), by="group", tolerance="mrr@5=0.1").summary
    file = tmp_path / "result.json"
    file.write_text(summary.model_dump_json())
    assert load_summary(tmp_path) == summary
    file.write_text(summary.model_copy(update=part).model_dump_json())
    with pytest.raises(InputError, match="is no result of FairRec"):
        load_summary(tmp_path)
