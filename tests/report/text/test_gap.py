"""The gap beside chance, in words."""

from __future__ import annotations

import pytest

from fairrec.core.units import USERS
from fairrec.report.text.metric_words import beside_chance, gap_words, is_beyond_chance
from fairrec.search.options import SearchOptions
from fairrec.statistics.findings import Chance
from tests.report.text.planted_report import given_result, planted_result


def chance(p: float) -> Chance:
    return Chance(mean=0.1, q95=0.2, p_value=p, permutations=999)


@pytest.mark.parametrize(("gap", "p"), [(0.3, 0.02), (0.15, 0.4), (0.2, 0.051)])
def test_where_the_gap_and_its_p_value_agree_both_are_told_together(gap, p):
    assert beside_chance(gap, chance(p), USERS) == (
        "chance alone shows 0.100 on average and up to 0.200 in 95% of cases "
        f"(p = {p:.3f} for this metric by itself, where a gap counts in standard errors)"
    )
    assert is_beyond_chance(gap, chance(p)) == (gap == 0.3)


def test_a_gap_larger_than_chance_shows_with_a_large_p_value_says_what_each_is():
    assert beside_chance(0.3, chance(0.17), USERS) == (
        "as it is, that is more than chance alone shows, 0.100 on average and up to 0.200 in 95% "
        "of cases; counted in standard errors, where ends of few users weigh less, it is not "
        "(p = 0.170 for this metric by itself)"
    )
    assert not is_beyond_chance(0.3, chance(0.17))


def test_a_gap_as_chance_shows_with_a_small_p_value_says_what_each_is():
    assert beside_chance(0.15, chance(0.003), USERS) == (
        "as it is, chance alone shows as much, 0.100 on average and up to 0.200 in 95% of cases; "
        "counted in standard errors, where ends of few users weigh less, it does not "
        "(p = 0.003 for this metric by itself)"
    )
    assert not is_beyond_chance(0.15, chance(0.003))


def test_the_words_of_a_metric_name_its_ends_by_its_direction():
    result = planted_result()
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


def test_after_a_search_it_says_what_may_have_been_missed():
    result = planted_result(search=SearchOptions("adaptive", budget_users="30%"))
    said = gap_words("auc", result.metrics["auc"], result.summary)
    assert "The exact gap is at most " in said or "not fully scored may lie beyond." in said
