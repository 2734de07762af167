"""What a search leaves to a random sample."""

from __future__ import annotations

from fairrec.report.text.metric_words import is_sampled, mean_over, scored
from fairrec.search.options import Search
from tests.report.text.planted_report import planted_result


def test_with_everyone_scored_nothing_is_an_estimate():
    result = planted_result()
    auc = result.metrics["auc"]
    assert not is_sampled(result.summary)
    assert scored(result.summary).many == "users"
    assert mean_over(auc, result.summary) == "mean over all users"
    some = auc.model_copy(update={"n_undefined": 3})
    assert mean_over(some, result.summary) == "mean over users with a value"


def test_after_a_search_a_mean_says_from_whom_it_is_estimated():
    result = planted_result(search=Search("adaptive", budget_users="30%"))
    auc = result.metrics["auc"]
    assert is_sampled(result.summary)
    assert scored(result.summary).count(1) == "1 scored user"
    assert mean_over(auc, result.summary) == (
        f"mean, estimated from {auc.n_compared} users drawn at random"
    )
