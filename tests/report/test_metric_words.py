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
from fairrec.result.schema import AuditSummary
from fairrec.search.options import Search
from fairrec.statistics.bootstrap import N_DRAWS
from fairrec.statistics.findings import Chance
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
        "chance alone shows 0.100 on average and up to 0.200 in 95% of cases "
        f"(p = {p:.3f} for this metric by itself, where a gap counts in standard errors)"
    )
    assert is_beyond_chance(gap, gap_chance(p)) == (gap == 0.3)


def test_a_gap_larger_than_chance_shows_with_a_large_p_value_says_what_each_is():
    assert beside_chance(0.3, gap_chance(0.17), USERS) == (
        "as it is, that is more than chance alone shows, 0.100 on average and up to 0.200 in 95% "
        "of cases; counted in standard errors, where ends of few users weigh less, it is not "
        "(p = 0.170 for this metric by itself)"
    )
    assert not is_beyond_chance(0.3, gap_chance(0.17))


def test_the_words_of_a_metric_name_its_ends_by_its_direction():
    result = planted()
    auc = result.metrics["auc"]
    said = gap_words("auc", auc, result.summary)
    assert said.startswith("Best and worst full combination are 0.750 apart; chance alone shows ")
    neutral = auc.model_copy(update={"higher_is_better": None, "chance": None})
    assert gap_words("auc", neutral, result.summary) == (
        "Highest and lowest full combination are 0.750 apart."
    )
    assert gap_words("auc", auc.model_copy(update={"is_constant": True}), result.summary) == ""
    none = auc.model_copy(update={"most_advantaged": ()})
    assert gap_words("auc", none, result.summary).endswith("so none is best or worst.")


def test_in_given_circumstances_the_gap_stays_as_it_is():
    result = given_result()
    said = gap_words("q", result.metrics["q"], result.summary)
    assert "apart, whatever the circumstances; among users in the same ones p " in said
    assert "chance alone" not in said


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


def test_every_metric_is_told_in_one_sentence_that_of_the_answer_first():
    summary = certified(a=[(20, 0.5, 90), (100, 0.2, 60)], b=[(100, 0.3, 60)])
    assert summarize_ruled_out(summary, "b") == (
        "None of the 60 groups of 100 users or more is worse by more than 0.300 in b and 0.200 in a"
    )
    assert summarize_ruled_out(summary) == (
        "None of the 60 groups of 100 users or more is worse by more than 0.200 in a and 0.300 in b"
    )


@pytest.mark.parametrize(
    ("steps", "size"),
    [([(90, 0.2, 9), (2000, 0.1, 2)], 90), ([(500, 0.2, 9)], 500), ([(7, 0.2, 9)], 7)],
)
def test_the_size_is_the_one_nearest_to_what_can_usually_be_ruled_out(steps: Steps, size: int):
    said = summarize_ruled_out(certified(a=steps))
    assert said == f"None of the 9 groups of {size} users or more is worse by more than 0.200 in a"


def test_where_no_end_is_better_groups_differ():
    summary = certified(ends={"b": None}, a=[(100, 0.2, 6)], b=[(100, 0.3, 6)])
    assert summarize_ruled_out(summary).endswith(
        "worse by more than 0.200 in a, nor different by more than 0.300 in b"
    )


def test_metrics_of_which_nothing_is_ruled_out_or_that_are_too_many_are_said():
    summary = certified(a=[(100, 0.2, 6)], b=[], c=[(100, 0.0, 6)])
    assert summarize_ruled_out(summary) == (
        "None of the 6 groups of 100 users or more is worse by more than 0.200 in a; nothing is "
        "ruled out in b"
    )
    many = certified(**{name: [(100, 0.2, 6)] for name in "abcdefg"})
    assert summarize_ruled_out(many).endswith("0.200 in d and 0.200 in e; 2 more metrics below")
    assert summarize_ruled_out(certified(a=[])) == ""


def test_after_a_search_sizes_are_of_scored_users():
    result = planted_result(search=Search("adaptive", budget_users="30%"))
    assert "scored users or more" in summarize_ruled_out(result.summary)
    assert "scored users)" in describe_ruled_out(result.metrics["auc"], result.summary)


def test_after_a_search_a_mean_says_from_whom_it_is_estimated():
    result = planted_result(search=Search("adaptive", budget_users="30%"))
    auc = result.metrics["auc"]
    assert is_sampled(result.summary)
    assert scored(result.summary).count(1) == "1 scored user"
    assert mean_over(auc, result.summary) == (
        f"mean, estimated from {auc.n_compared} users drawn at random"
    )
