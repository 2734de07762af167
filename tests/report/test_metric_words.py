"""A metric in words: its ends, p-values, its gap and what is ruled out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fairrec.core.audited_entity import USERS
from fairrec.report.metric_words import (
    describe_ruled_out,
    direction,
    end_names,
    gap_words,
    harm_word,
    is_sampled,
    is_worse,
    mean_over,
    p_adjusted,
    scored,
    summarize_ruled_out,
    worse_word,
)
from fairrec.result.schema import AuditSummary
from fairrec.search.options import Search
from fairrec.statistics.verdict import CertifiedSize
from tests.report.planted import given_result, planted, planted_result


@pytest.mark.parametrize(
    ("higher_is_better", "ends", "words"),
    [
        (True, ("worst", "best"), ("worse", "harm", "higher is better")),
        (False, ("worst", "best"), ("worse", "harm", "lower is better")),
        (None, ("lowest", "highest"), ("different", "difference", "neither direction is better")),
    ],
)
def test_only_where_an_end_is_better_one_is_best(higher_is_better, ends, words):
    auc = planted().metrics["auc"]
    result = auc.model_copy(update={"higher_is_better": higher_is_better})
    assert end_names(result) == ends
    assert (worse_word(result), harm_word(result), direction(higher_is_better)) == words
    assert auc.findings[0].difference < 0
    assert is_worse(auc.findings[0], result) == (higher_is_better is not False)


@pytest.mark.parametrize(
    ("adjusted", "text"), [(0.001, "≤0.001"), (0.002, "0.002"), (0.004, "0.004")]
)
def test_the_least_that_can_be_shown_is_a_bound(adjusted, text):
    summary = SimpleNamespace(permutations_drawn=999, unit=USERS)
    assert p_adjusted(adjusted, summary) == text


def test_a_gap_names_its_ends_and_its_null_distribution():
    result = planted()
    auc = result.metrics["auc"]
    text = gap_words("auc", auc, result.summary)
    assert text.startswith(
        "Gap between the best and the worst intersection of all attributes, gender="
    )
    assert ": 0.750; with attributes permuted its mean is " in text
    neutral = auc.model_copy(update={"higher_is_better": None, "chance": None})
    text = gap_words("auc", neutral, result.summary)
    assert text.startswith("Gap between the highest and the lowest intersection")
    assert gap_words("auc", auc.model_copy(update={"most_advantaged": ()}), result.summary) == ""
    adjusted = given_result()
    text = gap_words("q", adjusted.metrics["q"], adjusted.summary)
    assert (
        ": 0.117; unadjusted; adjusted, the gap in standard errors has p " in text
        and "null hypothesis" not in text
    )


Steps = list[tuple[int, float, int]]


def certified(
    n_worse: int = 0, ends: dict[str, bool | None] | None = None, **steps: Steps
) -> AuditSummary:
    """A summary of metrics of which so much is ruled out: size, harm and number of groups."""
    summary = planted().summary
    auc = summary.metrics["auc"]
    counts = {"n_worse": n_worse, "n_worse_beyond_tolerance": 0, "n_not_compared": 0}
    metrics: dict[str, Any] = {}
    for name, points in steps.items():
        certificate = tuple(
            CertifiedSize(support=size, harm=harm, n_groups=n) for size, harm, n in points
        )
        verdict = auc.verdict.model_copy(update={**counts, "certificate": certificate})
        end = (ends or {}).get(name, True)
        metrics[name] = auc.model_copy(update={"verdict": verdict, "higher_is_better": end})
    return summary.model_copy(update={"metrics": metrics})


def ruled_out(steps: Steps, end: bool | None = True, **counts: int) -> str:
    summary = certified(ends={"a": end}, a=steps, **counts)
    return summarize_ruled_out(summary.metrics["a"], summary)


@pytest.mark.parametrize(
    ("steps", "size"),
    [
        ([(20, 0.5, 90), (100, 0.2, 60)], 100),
        ([(90, 0.2, 9), (2000, 0.1, 2)], 90),
        ([(500, 0.2, 9)], 500),
    ],
)
def test_the_size_is_the_one_nearest_to_what_can_usually_be_ruled_out(steps: Steps, size: int):
    text = f"Ruled out: no group of {size} users or more is worse by more than 0.200."
    assert ruled_out(steps) == text


def test_what_is_ruled_out_is_rounded_up_and_excepts_groups_shown_to_be_worse():
    assert ruled_out([(100, 0.12301, 6)], n_worse=2) == (
        "Ruled out: except the 2 groups shown to be worse, overlapping ones included, no group of "
        "100 users or more is worse by more than 0.124."
    )
    assert ruled_out([(100, 0.2, 6)], end=None).endswith("is different by more than 0.200.")
    assert ruled_out([]) == "Ruled out: nothing."
    summary = certified(a=[(20, 0.50001, 90), (100, 0.2, 60)])
    assert describe_ruled_out(summary.metrics["a"], summary) == (
        "Upper bound on the harm of groups not shown to be worse (95%, simultaneous): 0.501 for "
        "20+ users; 0.200 for 100+ users."
    )


def test_after_a_search_a_mean_says_from_whom_it_is_estimated():
    result = planted_result(search=Search("adaptive", budget_users="30%"))
    auc = result.metrics["auc"]
    assert is_sampled(result.summary)
    assert scored(result.summary).count(1) == "1 scored user"
    assert mean_over(auc, result.summary) == (
        f"mean, estimated from {auc.n_compared} users drawn at random"
    )
