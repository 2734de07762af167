from __future__ import annotations

from pathlib import Path

import pytest

from fairrec.core.errors import FairRecError
from fairrec.mitigation.options import MitigationOptions


def test_the_metric_may_be_in_any_case_and_names_its_re_ranker():
    options = MitigationOptions("URD@3")
    assert (options.target.name, options.reranker_name) == ("urd@3", "mmr")


def test_numbers_may_be_text():
    options = MitigationOptions(metric="ndcg", strength="0.5", max_loss="0.1")
    assert (options.strength, options.max_loss) == (0.5, 0.1)
    assert MitigationOptions("ndcg", groups=Path("worst.csv")).groups == Path("worst.csv")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"strength": "strong"}, "invalid strength: expected a number from 0 to 1, or 'auto', got"),
        ({"max_loss": 2}, "invalid max_loss: expected a number from 0 to 1, got 2"),
        ({"groups": 3}, "invalid groups: expected .* or a file with one group a row, got 3"),
        ({"groups": "worst:0"}, "invalid groups: expected findings, worst:10%, .*, got 'worst:0'"),
        ({"metric": "pooled_auc"}, "is no mean over users"),
        ({"reranker": ""}, "No re-ranker ''"),
        ({"reranker": "mrm"}, "Did you mean 'mmr'"),
    ],
)
def test_what_cannot_be_is_refused(options, says):
    with pytest.raises(FairRecError, match=says):
        MitigationOptions(**{"metric": "ndcg@5", **options})
