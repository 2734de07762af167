from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from fairrec.counts.table import CountsInfo
from tests.counts.small_counts import counts_of, tables


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("families",), [], "families"),
        (("families",), [["auc"]], "families"),
        (("families",), [["auc", "ndcg@5", "mrr@8"]] * 2, "families"),
        (("attributes",), {}, "no groups"),
        (("circumstances",), {"gender": {}}, "no groups"),
        (("levels",), {"other": [1.0]}, "not counted"),
        (("metrics", "auc", "bounds"), [1.0, 0.0], "hold nothing"),
        (("metrics", "auc", "bounds"), [0.0, "NaN"], "hold nothing"),
        (("metrics", "auc", "n_expected"), -1, "n_expected"),
        (("n_candidates",), -1, "n_candidates"),
    ],
)
def test_what_contradicts_itself_is_refused(place, value, message):
    said = json.loads(counts_of(tables()).info.model_dump_json())
    assert CountsInfo.model_validate_json(json.dumps(said))
    inner = said
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    with pytest.raises(ValidationError, match=message):
        CountsInfo.model_validate_json(json.dumps(said))
