"""A mitigation in sentences: which numbers are said of whom, and when."""

from __future__ import annotations

from functools import cache

import pytest

from fairrec.mitigation.schema import MitigationSummary
from fairrec.mitigation.view import facts
from fairrec.mitigation.words import headline, sentences, stamps, target_name, tone_of
from fairrec.result.metric_schema import GapChange
from tests.mitigation.planted import mitigate, planted
from tests.mitigation.small_summary import (
    COST,
    MEN,
    NOTHING,
    TARGET,
    WOMEN,
    chance,
    change,
    counts,
    effect,
    same,
    summary_of,
    to_others,
)


def sentence(summary: MitigationSummary, word: str) -> str:
    """The one sentence with a word, or nothing."""
    found = [said for said in sentences(summary) if word in said]
    assert len(found) <= 1
    return "".join(found)


def test_the_headline_has_both_means_and_how_many_groups_they_are_of():
    said = headline(summary_of())
    assert "urd@5" in said and "from 0.300 to 0.500" in said
    assert "2 chosen groups" in headline(summary_of(groups=(WOMEN, MEN)))
    # what was done is told from whether it helped
    worse = headline(summary_of(effect(change(0.3, 0.5, "worse"), same(0.4))))
    assert worse != said and worse.startswith(said[: said.index("0.500")])


def test_where_nothing_was_done_or_nothing_is_known_no_change_is_claimed():
    untouched = headline(summary_of(strength=0.0))
    assert "0.300" in untouched and "0.500" not in untouched
    assert "undefined" in headline(summary_of(effect(NOTHING, same(0.4))))


def test_a_distance_is_called_one():
    away = TARGET.model_copy(update={"is_distance": True})
    assert target_name(summary_of(), TARGET) == "urd@5"
    assert "distance" in target_name(summary_of(), away)
    # how far the others are from themselves says nothing
    assert "All others have" not in headline(summary_of(away))


def test_a_distance_beyond_the_others_or_not_shown_to_be_smaller_is_explained():
    def said(chosen, is_distance=True):
        target = effect(chosen, same(0.4), is_distance=is_distance)
        return [sentence(summary_of(target), part) for part in ("below 0", "is not shown")]

    assert said(change(0.3, 0.1)) == ["", ""]
    beyond, _ = said(change(0.3, -0.1))
    assert "other side" in beyond
    beyond, unshown = said(change(0.3, -0.3, "changed"))
    assert beyond and beyond == unshown
    assert said(change(-0.3, -0.1, "changed"), is_distance=False) == ["", ""]


def test_what_must_not_be_overlooked_is_stamped_and_nothing_else():
    assert stamps(summary_of()) == ()
    upper, shared = stamps(summary_of(is_upper_bound=True, n_shared_targets=3))
    assert upper.startswith("UPPER BOUND") and "mmr" in upper
    assert shared.startswith("SAME TARGETS") and "3 targets" in shared


def test_who_was_chosen_by_and_who_is_reported_on_is_said_first():
    first = sentences(summary_of())[0]
    assert "90 users" in first and "0.5 (tuned)" in first
    halves = sentences(summary_of(protocol="halves of the users", is_tuned=False))[0]
    assert "(90)" in halves and "(100)" in halves and "0.5 (given)" in halves


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (0.1, 0.02, "was behind by 0.100 (p = 0.010) and is behind by 0.0200 (p = 0.300)."),
        (0.1, -0.2, "was behind by 0.100 (p = 0.010) and is ahead by 0.200 (p = 0.300)."),
        (-0.1, -0.2, "was ahead by 0.100 (p = 0.010) and is ahead by 0.200 (p = 0.300)."),
    ],
)
def test_the_headline_places_the_chosen_groups_beside_the_others(before, after, said):
    gap = to_others(before, after)
    assert headline(summary_of(to_others=gap)).endswith(
        f"All others have 0.400: the chosen group {said}"
    )
    several = headline(summary_of(to_others=gap, groups=(WOMEN, WOMEN)))
    assert said.replace("was ", "were ").replace(" is ", " are ") in several
    # also where nothing was done
    assert headline(summary_of(to_others=gap, strength=0.0)).endswith(said)
    # a distance stands in the headline already
    away = headline(
        summary_of(TARGET.model_copy(update={"is_distance": True}), to_others=to_others(0.3, 0.1))
    )
    assert away.endswith("has p = 0.010 before and p = 0.300 after.")
    # without others there is nothing to be level with
    nobody = to_others(before, after).model_copy(update={"before": None, "p_before": None})
    assert headline(summary_of(to_others=nobody)).endswith("a significant improvement.")


def test_what_took_groups_apart_is_no_improvement():
    gap = GapChange(before=0.1, after=0.2, chance_before=chance(0.6), chance_after=chance(0.01))
    target = effect(change(0.3, 0.5), same(0.4), gap=gap)
    for outcome, says in (
        ("turned round", "went from 0.300 to 0.500, and the order turned round."),
        ("gap grew", "went from 0.300 to 0.500, further from all others than before."),
        (
            "intersections further apart",
            "but the gap between the best and the worst intersection of all attributes went from "
            "0.100 (p = 0.600) to 0.200 (p ≤ 0.010).",
        ),
    ):
        summary = summary_of(target, outcome=outcome)
        assert says in headline(summary)
        assert "improvement" not in headline(summary) and tone_of(outcome) == "neutral"
        _, how_much, how_sure, _ = facts(summary)
        assert (how_much.tone, how_sure.tone) == ("neutral", "neutral")
        assert "mprovement" not in how_sure.answer
        # each gap once
        assert bool(sentence(summary, "The gap in")) == ("intersection" not in outcome)


def test_a_drift_towards_the_others_is_regression_only_of_groups_chosen_as_the_worst():
    def said(rule: str, chosen_by: float, **changes: float) -> str:
        seen = summary_of().regression.model_copy(update={"chosen_by": chosen_by, **changes})
        return sentence(summary_of(rule=rule, regression=seen), "Without any re-ranking")

    assert "0.250" in said("worst:1", 0.25) and "0.300" in said("worst:1", 0.25)
    assert "regress" in said("worst:1", 0.25)
    assert "regress" not in said("findings", 0.25)
    # they look worse by other targets, not better
    assert "regress" not in said("worst:1", 0.35)
    assert "0.420 and 0.400" in said("worst:1", 0.25)
    assert "0.400" not in said("worst:1", 0.25, others_chosen_by=None)
    assert said("worst:1", None) == ""


def test_each_gap_is_weighed_against_chance_by_its_own_p_value():
    gap = GapChange(before=0.4, after=0.2, chance_before=chance(0.01), chance_after=chance(0.3))
    tested = summary_of(effect(change(0.3, 0.5), same(0.4), gap=gap))
    said = sentence(tested, "The gap in")
    beyond, by_chance = said.split(" and is ")
    assert "0.400" in beyond and "p ≤ 0.010" in beyond and "no more than" not in beyond
    assert "0.200" in by_chance and "p = 0.300" in by_chance and "no more than" in by_chance
    assert not sentence(summary_of(), "The gap in")


def test_the_cost_is_a_share_of_what_there_was():
    said = sentence(summary_of(), "ndcg@5 changed")
    # 0.5 to 0.45, and 0.6 to 0.594
    assert "−10.00% for the chosen group (" in said and "−1.00% for all users" in said
    # more than the 2% allowed, but only a tuned strength promised that
    assert "2%" in said.split("all users")[1]
    assert "2%" not in sentence(summary_of(is_tuned=False), "ndcg@5 changed")
    assert "20%" not in sentence(summary_of(max_loss=0.2), "ndcg@5 changed")
    assert not sentence(summary_of(cost_metric=None), "ndcg@5 changed")


def test_metrics_and_groups_that_became_worse_are_named_with_their_number():
    said = sentences(summary_of())
    assert [one for one in said if one.endswith(": ndcg@5.")]
    assert "60 other users" in sentence(summary_of(), "other user")
    assert "12 comparisons" in said[-1] and "group in" not in said[-1]
    # where no list was changed nothing was compared
    assert "comparison" not in " ".join(sentences(summary_of(n_group_tests=0)))
    harmed = COST.model_copy(update={"groups": counts(worse=2, improved=5)})
    last = sentences(summary_of(effects={"urd@5": TARGET, "ndcg@5": harmed}))[-1]
    assert last.endswith(": 2 groups in ndcg@5.")


@cache
def planted_summary() -> MitigationSummary:
    return mitigate(planted(), "ndcg@5", strength=0.5, permutations=0).summary


def changed(verdict: str) -> MitigationSummary:
    """The same with another verdict on the chosen groups."""
    target = planted_summary().effects["ndcg@5"]
    chosen = target.chosen.model_copy(update={"verdict": verdict})
    effects = {**planted_summary().effects, "ndcg@5": target.model_copy(update={"chosen": chosen})}
    return planted_summary().model_copy(update={"effects": effects, "outcome": verdict})


@pytest.mark.parametrize(
    ("verdict", "says"),
    [
        ("improved", ", a significant improvement."),
        ("worse", ", significantly worse."),
        ("not significant", ", a change that is not significant."),
        ("unchanged", ", so it did not change."),
    ],
)
def test_the_headline_says_whether_the_change_is_significant(verdict, says):
    assert f"{says} All others have " in headline(changed(verdict))


def test_metrics_the_chosen_groups_lost_by_are_named():
    assert "Significantly worse for the chosen group: ndcg@5." in sentences(changed("worse"))


def test_targets_that_were_chosen_by_are_not_called_held_out():
    shared = planted_summary().model_copy(update={"n_shared_targets": 3})
    assert any("the held-out test targets" in said for said in sentences(planted_summary()))
    assert not any("held-out" in said for said in sentences(shared))
    assert stamps(shared)[0].startswith("SAME TARGETS: 3 targets")
