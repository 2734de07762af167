"""A metric in words: its ends, p-values, its gap and what is ruled out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fairrec.core.audited_entity import ITEMS, USERS
from fairrec.report.metric_words import (
    beside_chance,
    describe_ruled_out,
    direction,
    end_names,
    format_gap_p_value,
    gap_words,
    harm_word,
    is_beyond_chance,
    is_sampled,
    is_worse,
    mean_over,
    p_adjusted,
    scored,
    summarize_ruled_out,
    worse_word,
)
from fairrec.result.metric_schema import Chance
from fairrec.result.schema import AuditSummary
from fairrec.search.options import Search
from fairrec.statistics.bootstrap import N_DRAWS
from fairrec.statistics.verdict import CertifiedSize
from tests.report.planted import given_result, planted, planted_result


@pytest.mark.parametrize(
    ("higher_is_better", "ends", "words"),
    [
        (True, ("worst", "best"), ("worse", "harm", "higher is better")),
        (False, ("worst", "best"), ("worse", "harm", "lower is better")),
        (None, ("lowest", "highest"), ("different", "difference", "no end is better")),
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


def test_of_items_users_drawn_again_have_a_least_whatever_was_permuted():
    summary = SimpleNamespace(permutations_drawn=99, unit=ITEMS, alpha=0.05)
    assert p_adjusted(1 / (1 + N_DRAWS), summary) == "≤0.001"
    assert p_adjusted(0.004, summary) == "0.004"


def test_a_gap_beyond_all_permutations_has_a_bound():
    chance = Chance(mean=0.1, q95=0.2, p_value=0.01, permutations=99)
    assert format_gap_p_value(chance) == "p ≤ 0.010"
    assert format_gap_p_value(chance.model_copy(update={"p_value": 0.02})) == "p = 0.020"


def gap_chance(p: float) -> Chance:
    return Chance(mean=0.1, q95=0.2, p_value=p, permutations=999)


@pytest.mark.parametrize(("gap", "p"), [(0.3, 0.02), (0.15, 0.4), (0.2, 0.051)])
def test_where_the_gap_and_its_p_value_agree_both_are_told_together(gap, p):
    assert beside_chance(gap, gap_chance(p), USERS) == (
        "under permutation the gap has a mean of 0.100 and a 95% quantile of 0.200 "
        f"(p = {p:.3f} for this metric by itself, by the standardised gap)"
    )
    assert is_beyond_chance(gap, gap_chance(p)) == (gap == 0.3)


def test_a_gap_larger_than_chance_shows_with_a_large_p_value_says_what_each_is():
    assert beside_chance(0.3, gap_chance(0.17), USERS) == (
        "under permutation the gap has a mean of 0.100 and a 95% quantile of 0.200; the raw gap is "
        "beyond chance, the standardised gap is not (p = 0.170 for this metric by itself)"
    )
    assert not is_beyond_chance(0.3, gap_chance(0.17))


def test_the_words_of_a_metric_name_its_ends_by_its_direction():
    result = planted()
    auc = result.metrics["auc"]
    said = gap_words("auc", auc, result.summary)
    best = "The best and the worst intersection of all attributes differ by 0.750"
    assert said.startswith(f"{best}; under permutation the gap has a mean of ")
    neutral = auc.model_copy(update={"higher_is_better": None, "chance": None})
    assert gap_words("auc", neutral, result.summary) == (
        "The highest and the lowest intersection of all attributes differ by 0.750."
    )
    assert gap_words("auc", auc.model_copy(update={"is_constant": True}), result.summary) == ""
    none = auc.model_copy(update={"most_advantaged": ()})
    assert gap_words("auc", none, result.summary).endswith("so none is best or worst.")


def test_in_read_covariates_the_gap_stays_as_it_is():
    result = given_result()
    said = gap_words("q", result.metrics["q"], result.summary)
    assert " differ by 0.117, unadjusted; adjusted for tenure, p " in said
    assert "under permutation" not in said


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


def ruled_out(steps: Steps, worst: str = "", end: bool | None = True, **counts: int) -> str:
    summary = certified(ends={"a": end}, a=steps, **counts)
    return summarize_ruled_out(summary.metrics["a"], summary, worst)


@pytest.mark.parametrize(
    ("steps", "size"),
    [
        ([(20, 0.5, 90), (100, 0.2, 60)], 100),
        ([(90, 0.2, 9), (2000, 0.1, 2)], 90),
        ([(500, 0.2, 9)], 500),
        ([(7, 0.2, 9)], 7),
    ],
)
def test_the_size_is_the_one_nearest_to_what_can_usually_be_ruled_out(steps: Steps, size: int):
    assert ruled_out(steps) == f"no group of {size} users or more is worse by more than 0.200"


def test_groups_shown_to_be_worse_are_excepted():
    assert ruled_out([(100, 0.2, 6)], "gender=F (worse by up to 0.3)") == (
        "except gender=F (worse by up to 0.3), no group of 100 users or more is worse by more than "
        "0.200"
    )


def test_where_no_end_is_better_groups_differ():
    assert ruled_out([(100, 0.2, 6)], end=None).endswith("is different by more than 0.200")


def test_where_nothing_is_ruled_out_that_is_said_and_nothing_of_all_others_worse_by_nothing():
    assert ruled_out([]) == "nothing"
    assert ruled_out([(100, 0.0, 6)]) == ""


def test_after_a_search_sizes_are_of_scored_users():
    result = planted_result(search=Search("adaptive", budget_users="30%"))
    auc = result.metrics["auc"]
    assert "scored users or more" in summarize_ruled_out(auc, result.summary)
    assert "scored users)" in describe_ruled_out(auc, result.summary)


def test_after_a_search_a_mean_says_from_whom_it_is_estimated():
    result = planted_result(search=Search("adaptive", budget_users="30%"))
    auc = result.metrics["auc"]
    assert is_sampled(result.summary)
    assert scored(result.summary).count(1) == "1 scored user"
    assert mean_over(auc, result.summary) == (
        f"mean, estimated from {auc.n_compared} users drawn at random"
    )
