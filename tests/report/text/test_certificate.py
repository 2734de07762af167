"""What is ruled out, in sentences."""

from __future__ import annotations

from typing import Any

import pytest

from fairrec.report.text.metric_words import ruled_out_in, ruled_out_in_all
from fairrec.result.schema import AuditSummary
from fairrec.search.options import SearchOptions
from fairrec.statistics.verdict import CertifiedSize
from tests.report.text.planted_report import planted_result

Steps = list[tuple[int, float, int]]


def certified(
    n_worse: int = 0, ends: dict[str, bool | None] | None = None, **steps: Steps
) -> AuditSummary:
    """A summary of metrics of which so much is ruled out: size, harm and number of groups."""
    summary = planted_result().summary
    auc = summary.metrics["auc"]
    counts = {"n_worse": n_worse, "n_worse_by_more": 0, "n_not_compared": 0}
    metrics: dict[str, Any] = {}
    for name, points in steps.items():
        certificate = tuple(
            CertifiedSize(support=size, harm=harm, n_groups=n) for size, harm, n in points
        )
        verdict = auc.verdict.model_copy(update={**counts, "certificate": certificate})
        end = (ends or {}).get(name, True)
        metrics[name] = auc.model_copy(update={"verdict": verdict, "higher_is_better": end})
    return summary.model_copy(update={"metrics": metrics})


def test_every_metric_is_told_in_one_sentence_that_of_the_answer_first():
    summary = certified(a=[(20, 0.5, 90), (100, 0.2, 60)], b=[(100, 0.3, 60)])
    assert ruled_out_in_all(summary, "b") == (
        "None of the 60 groups of 100 users or more is worse by more than 0.300 in b and 0.200 in a"
    )
    assert ruled_out_in_all(summary) == (
        "None of the 60 groups of 100 users or more is worse by more than 0.200 in a and 0.300 in b"
    )


def test_metrics_with_other_groups_have_one_size_from_which_on_all_of_it_holds():
    summary = certified(
        2, a=[(20, 0.5, 90), (95, 0.2, 60)], b=[(40, 0.4, 80), (106, 0.3, 55)], c=[(30, 0.1, 70)]
    )
    assert ruled_out_in_all(summary) == (
        "No other group of 106 users or more is worse by more than 0.200 in a, 0.300 in b and "
        "0.100 in c"
    )


@pytest.mark.parametrize(
    ("steps", "size"),
    [([(90, 0.2, 9), (2000, 0.1, 2)], 90), ([(500, 0.2, 9)], 500), ([(7, 0.2, 9)], 7)],
)
def test_the_size_is_the_one_nearest_to_what_can_usually_be_ruled_out(steps: Steps, size: int):
    said = ruled_out_in_all(certified(a=steps))
    assert said == f"None of the 9 groups of {size} users or more is worse by more than 0.200 in a"


def test_where_no_end_is_better_groups_differ():
    summary = certified(ends={"b": None}, a=[(100, 0.2, 6)], b=[(100, 0.3, 6)])
    assert ruled_out_in_all(summary).endswith(
        "worse by more than 0.200 in a, nor different by more than 0.300 in b"
    )


def test_metrics_of_which_nothing_is_ruled_out_or_that_are_too_many_are_said():
    summary = certified(a=[(100, 0.2, 6)], b=[], c=[(100, 0.0, 6)])
    assert ruled_out_in_all(summary) == (
        "None of the 6 groups of 100 users or more is worse by more than 0.200 in a; nothing is "
        "ruled out in b"
    )
    many = certified(**{name: [(100, 0.2, 6)] for name in "abcdefg"})
    assert ruled_out_in_all(many).endswith("0.200 in d and 0.200 in e; 2 more metrics below")
    assert ruled_out_in_all(certified(a=[])) == ""


def test_one_group_is_not_counted_as_none_of_one():
    one = {"a": [(500, 0.1, 1)]}
    said = ruled_out_in_all(certified(**one))
    assert said == "The one group of 500 users or more is not worse by more than 0.100 in a"
    assert ruled_out_in_all(certified(1, **one)).startswith("The other group of 500 users or more")
    summary = certified(1, **one)
    assert ruled_out_in(summary.metrics["a"], summary).startswith("The other group tested (up to")


def test_after_a_search_sizes_are_of_scored_users():
    result = planted_result(search=SearchOptions("adaptive", budget_users="30%"))
    assert "scored users or more" in ruled_out_in_all(result.summary)
    assert "scored users)" in ruled_out_in(result.metrics["auc"], result.summary)


def test_a_metric_tells_what_is_ruled_out_for_larger_groups_too():
    summary = certified(a=[(20, 0.5, 90), (100, 0.2, 60), (1500, 0.1, 9)])
    said = ruled_out_in(summary.metrics["a"], summary)
    assert said.startswith("None of the 90 groups tested (up to ")
    assert said.endswith(
        "; of those of 100 and more by 0.200; of those of 1,500 and more by 0.100."
    )
    # all others are shown to be better off
    none = certified(a=[(20, 0.0, 9)])
    assert ruled_out_in(none.metrics["a"], none) == ""


def test_groups_of_which_nothing_is_ruled_out_are_not_among_those_of_whom_it_is():
    summary = certified(1, a=[(100, 0.2, 6)], b=[(90, 0.3, 7)])
    one = summary.metrics["b"]
    verdict = one.verdict.model_copy(update={"n_not_compared": 1})
    metrics = {**summary.metrics, "b": one.model_copy(update={"verdict": verdict})}
    assert ruled_out_in_all(summary.model_copy(update={"metrics": metrics})) == (
        "No other group of 100 users or more that can be compared is worse by more than 0.200 in "
        "a and 0.300 in b"
    )
