from __future__ import annotations

import json

from fairrec.result.search_schema import SearchSummary
from tests.builders import audit, make_tables


def test_times_of_an_older_result_which_are_in_the_run_now_are_passed_over():
    tables = make_tables()
    found = audit(
        tables.predictions, tables.users, "gender", metrics="auc", search="exact"
    ).summary.search
    older = json.loads(found.model_dump_json()) | {"seconds": 1.5, "seconds_scoring": 0.5}
    assert SearchSummary.model_validate(older) == found
    spent = {"users": 3, "rows": 9, "calls": 1}
    older["spent_in_all"] = {**spent, "seconds": 2.0}
    assert SearchSummary.model_validate(older).spent_in_all.model_dump() == spent
