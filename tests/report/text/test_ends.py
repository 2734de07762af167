"""What the ends of a metric are called."""

from __future__ import annotations

import pytest

from fairrec.report.metric_words import direction, end_names, harm_word, is_worse, worse_word
from tests.report.text.planted_report import planted_result


@pytest.mark.parametrize(
    ("higher_is_better", "ends", "words"),
    [
        (True, ("worst", "best"), ("worse", "harm", "higher is better")),
        (False, ("worst", "best"), ("worse", "harm", "lower is better")),
        (None, ("lowest", "highest"), ("different", "difference", "no end is better")),
    ],
)
def test_only_where_an_end_is_better_one_is_best(higher_is_better, ends, words):
    auc = planted_result().metrics["auc"]
    result = auc.model_copy(update={"higher_is_better": higher_is_better})
    assert end_names(result) == ends
    assert (worse_word(result), harm_word(result), direction(higher_is_better)) == words
    assert auc.findings[0].difference < 0
    assert is_worse(auc.findings[0], result) == (higher_is_better is not False)
