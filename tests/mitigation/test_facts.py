"""Who, how much, how sure, and at what cost: against the numbers they are made of."""

from __future__ import annotations

from fairrec.mitigation.view import facts
from tests.mitigation.small_summary import (
    NOTHING,
    WOMEN,
    change,
    effect,
    same,
    summary_of,
)


def test_four_questions_are_answered_in_order():
    who, how_much, how_sure, cost = facts(summary_of())
    assert (who.answer, who.details) == (
        "1 chosen group",
        ("40 of 100 users (worst:1)", "gender=F"),
    )
    assert how_much.answer == "0.300 → 0.500" and how_much.tone == "better"
    assert how_much.details[0] == "urd@5 +0.200 (95% CI +0.100 to +0.300)"
    assert "0.400" in how_much.details[1]
    assert how_sure.answer == "Improvement shown" and "p = 0.010" in how_sure.details
    # a loss of their own comes before that nobody else has one
    assert (cost.answer, cost.tone) == ("The chosen group lost in ndcg@5", "worse")
    assert cost.details == (
        "ndcg@5 of the chosen group: −10.00% (significant)",
        "ndcg@5 of all users: −1.00% (significant)",
        "None for 60 other users: lists as they were",
    )
    alone = summary_of()
    own = {"effects": {"urd@5": alone.effects["urd@5"]}, "cost_metric": None}
    free = facts(alone.model_copy(update=own))[3]
    assert (free.answer, free.tone) == ("None for 60 other users", "neutral")


def test_of_many_groups_two_are_named_and_the_rest_counted():
    who = facts(summary_of(groups=(WOMEN,) * 5))[0]
    assert who.answer == "5 chosen groups"
    assert who.details[1] == "gender=F · gender=F · and 3 more"


def test_what_is_not_shown_is_called_so_and_has_no_colour():
    _, how_much, how_sure, _ = facts(
        summary_of(effect(change(0.3, 0.5, "not significant"), same(0.4)))
    )
    assert how_sure.answer == "Not shown"
    assert how_much.tone == how_sure.tone == "neutral"
    _, how_much, how_sure, _ = facts(summary_of(effect(same(0.3), same(0.4))))
    assert how_sure.answer == "Nothing changed" and len(how_sure.details) == 1
    assert how_much.details[0] == "urd@5 unchanged"
    _, how_much, _, _ = facts(summary_of(effect(NOTHING, same(0.4))))
    assert how_much.answer == "undefined"


def test_targets_that_were_chosen_by_are_not_called_held_out():
    how_sure = facts(summary_of())[2]
    assert "held-out" in how_sure.details[-1]
    how_sure = facts(summary_of(n_shared_targets=3))[2]
    assert "held-out" not in how_sure.details[-1]
