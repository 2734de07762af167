"""A mitigation in words, tables and charts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pytest import approx

from fairrec.mitigation.result import HarmedGroup, MitigationSummary, load_mitigation
from fairrec.mitigation.view import (
    GROUPS_SHOWN,
    Level,
    TradeOffLine,
    build_facts,
    build_mitigation_view,
    build_slopes,
)
from fairrec.mitigation.words import find_tone, headline, sentences, stamps, target_name
from fairrec.report.words import MINUS, number, signed
from fairrec.result.folder import load_saved
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
    point,
    same,
    summary_of,
    to_others,
)

METRICS = ["ndcg@5", "urd@5", "urp@5", "auc"]


def test_a_change_is_a_row_of_signed_numbers():
    rows = build_mitigation_view(summary_of()).effects.rows
    assert [row[:2] for row in rows] == [
        ("urd@5", "chosen groups"),
        ("urd@5", "all others"),
        ("urd@5", "all users"),
        ("ndcg@5", "chosen groups"),
        ("ndcg@5", "all others"),
        ("ndcg@5", "all users"),
    ]
    assert rows[0][2:] == (
        *("40", "0.300", "0.500", "+0.200", "+0.100 to +0.300", "0.010", "improved"),
    )
    # 0.5 to 0.45, give or take 0.1
    assert rows[3][5:7] == ("−0.050", "−0.150 to +0.050")


def test_nothing_and_nobody_claim_no_change():
    still = effect(same(0.3), NOTHING, is_distance=True)
    rows = build_mitigation_view(summary_of(still)).effects.rows[:3]
    assert rows[0] == (
        *("urd@5 (distance)", "chosen groups", "60", "0.300", "0.300", "0", "-", "-", "unchanged"),
    )
    assert rows[1][1:4] == ("all others", "60", "0.400")
    assert rows[2][2:] == ("0", "-", "-", "0", "-", "-", "unchanged")


def test_gaps_stand_beside_what_chance_shows():
    gap = GapChange(before=0.4, after=0.2, chance_before=chance(0.01), chance_after=None)
    view = build_mitigation_view(summary_of(effect(change(0.3, 0.5), same(0.4), gap=gap)))
    before, by_chance, after, untested = view.gaps.rows[0][1:]
    assert (before, by_chance, after) == ("0.400", "0.100, p ≤ 0.010", "0.200")
    assert untested == view.gaps.rows[1][2] and not any(map(str.isdigit, untested))
    none = gap.model_copy(update={"before": None})
    view = build_mitigation_view(summary_of(effect(change(0.3, 0.5), same(0.4), gap=none)))
    assert [row[0] for row in view.gaps.rows] == ["ndcg@5"]


def test_of_many_groups_the_first_are_shown_and_the_rest_counted():
    few = build_mitigation_view(summary_of(groups=(WOMEN, MEN))).groups
    assert [row[:2] for row in few.rows] == [
        ("gender=F", "0.250"),
        ("gender=M", "0.750"),
    ]
    many = build_mitigation_view(summary_of(groups=(WOMEN,) * (GROUPS_SHOWN + 5))).groups
    assert len(many.rows) == GROUPS_SHOWN
    assert "5 more" in many.note and "more" not in few.note


def test_only_tables_with_rows_are_laid_out():
    view = build_mitigation_view(summary_of())
    assert view.tables == (view.effects, view.gaps, view.groups)
    harm = HarmedGroup(metric="ndcg@5", group={"age": "65+"}, change=change(0.5, 0.4, "worse"))
    view = build_mitigation_view(summary_of(harmed=(harm,)))
    assert view.harmed.rows[0][:3] == ("ndcg@5", "age=65+", "40")
    assert view.tables[-1] is view.harmed
    for table in view.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)} == {len(table.numeric)}


def test_the_curves_are_those_of_the_target_and_of_what_it_costs():
    target, cost = build_mitigation_view(summary_of()).trade_offs
    assert (target.metric, target.is_target, target.chosen) == ("urd@5", True, 0.5)
    assert (cost.metric, cost.is_target, cost.chosen) == ("ndcg@5", False, 0.5)
    tuned, reported = dict.fromkeys(line.who for line in target.lines)
    assert target.lines == (
        *(TradeOffLine(s, v, tuned) for s, v in ((0.0, 0.2), (0.5, 0.35), (1.0, 0.4))),
        *(TradeOffLine(s, v + 0.1, reported) for s, v in ((0.0, 0.2), (0.5, 0.35), (1.0, 0.4))),
    )
    # the cost on held-out targets is not known, so it has no line
    assert [line.value for line in cost.lines] == [0.5, 0.5, 0.5, 0.6, 0.6, 0.6]
    assert "0 to 1" in target.alternative
    assert "0.200 to 0.400" in target.alternative and "0.300 to 0.500" in target.alternative


def test_a_target_that_is_its_own_cost_or_has_none_has_one_curve():
    own, free = summary_of(metric="ndcg@5"), summary_of(cost_metric=None)
    assert [curve.metric for curve in build_mitigation_view(own).trade_offs] == ["ndcg@5"]
    assert [curve.metric for curve in build_mitigation_view(free).trade_offs] == ["urd@5"]


def test_outside_text_stays_on_its_line():
    view = build_mitigation_view(
        summary_of(
            command="a\nb",
            notes=("c\nd",),
            groups=(WOMEN.model_copy(update={"group": {"x\n": "\x1b"}}),),
            effects={"urd@5": TARGET, "ndcg@5": TARGET, "odd\n": TARGET},
        )
    )
    assert view.notes == (r"c\nd",)
    shown = [view.reproduce, *(cell for table in view.tables for row in table.rows for cell in row)]
    assert not [text for text in shown if "\n" in text or "\x1b" in text]
    assert "seed 7" in view.reproduce


def test_a_curve_without_a_value_is_not_drawn():
    without_cost = point(0.0, 0.2, None).model_copy(update={"everyone_cost": None})
    (curve,) = build_mitigation_view(summary_of(trade_off=(without_cost,))).trade_offs
    assert curve.is_target


def numbers_in(part: Any) -> Iterator[float]:
    """All numbers of a JSON value, however deep."""
    if isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from numbers_in(inner)
    elif isinstance(part, int | float) and not isinstance(part, bool):
        yield part


def made_of(kept: dict[str, Any]) -> set[str]:
    """Every number that may be shown: those of the file, and what is reckoned from them."""
    shares = {
        f"{100 * change['change'] / change['before']:+.2f}".replace("-", MINUS)
        for effect in kept["effects"].values()
        for change in (effect["chosen"], effect["everyone"])
        if change["before"]
    }
    cost = kept["effects"][kept["cost_metric"]]["chosen"]["before"]
    to_keep = number((1 - kept["max_loss"]) * cost)
    seeing = {
        str(effect["detectable"]["n_groups"] - effect["detectable"]["n_blind"])
        for effect in kept["effects"].values()
    }
    as_shown = {
        text
        for value in numbers_in(kept)
        for text in (number(value), signed(value), f"{value:,}", f"{value:.3f}", f"{value:g}")
    }
    n_groups = {str(len(kept["groups"])), str(len(kept["groups"]) - 2)}
    level = {"95"}
    # 0 for a distance from oneself, 0.001 as the smallest p-value that is shown
    return shares | {to_keep} | seeing | as_shown | n_groups | level | {"0", "0.001"}


@pytest.mark.parametrize(
    ("worse", "metric", "options"),
    [
        ("accuracy", "ndcg@5", {}),
        ("diversity", "urd@5", {"max_loss": 0.5}),
        ("accuracy", "urp@5", {"groups": "worst:3", "reranker": "popularity_calibrated"}),
    ],
)
def test_every_number_to_look_at_is_in_the_file(tmp_path, worse, metric, options):
    result = mitigate(planted(worse), metric, metrics=METRICS, **options)
    result.save(tmp_path, report=False)
    kept = json.loads((tmp_path / "mitigation.json").read_text())
    saved = load_mitigation(tmp_path, load_saved(tmp_path)[1])
    assert saved == result.summary
    view = build_mitigation_view(saved)
    shown = [
        *(text for fact in view.facts for text in (fact.answer, *fact.details)),
        *(slope.alternative for slope in view.slopes),
        *(level.label for s in view.slopes for level in (s.others, s.floor) if level),
    ]
    allowed = made_of(kept)
    names = "|".join(map(re.escape, (*METRICS, "worst:1", "worst:3")))
    found = re.findall(r"[−+-]?\d[\d,]*(?:\.\d+)?", re.sub(names, "", " ".join(shown)))
    assert len(found) > 40
    assert [text for text in found if text.rstrip(",") not in allowed] == []
    assert len(view.slopes) == len(METRICS)


def test_each_number_to_look_at_is_that_of_its_own_metric():
    result = mitigate(planted(), "ndcg@5", metrics=METRICS)
    effects = result.summary.effects
    for slope in build_mitigation_view(result.summary).slopes:
        effect = effects[slope.metric]
        assert (slope.before, slope.after) == (effect.chosen.before, effect.chosen.after)
        low, high = effect.chosen.interval
        assert (slope.low - slope.before, slope.high - slope.before) == (approx(low), approx(high))
        assert slope.others.value == effect.others.before == effect.others.after


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
        assert "improvement" not in headline(summary) and find_tone(outcome) == "neutral"
        _, how_much, how_sure, _ = build_facts(summary)
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


def test_four_questions_are_answered_in_order():
    who, how_much, how_sure, cost = build_facts(summary_of())
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
    free = build_facts(alone.model_copy(update=own))[3]
    assert (free.answer, free.tone) == ("None for 60 other users", "neutral")


def test_of_many_groups_two_are_named_and_the_rest_counted():
    who = build_facts(summary_of(groups=(WOMEN,) * 5))[0]
    assert who.answer == "5 chosen groups"
    assert who.details[1] == "gender=F · gender=F · and 3 more"


def test_what_is_not_shown_is_called_so_and_has_no_colour():
    _, how_much, how_sure, _ = build_facts(
        summary_of(effect(change(0.3, 0.5, "not significant"), same(0.4)))
    )
    assert how_sure.answer == "Not shown"
    assert how_much.tone == how_sure.tone == "neutral"
    _, how_much, how_sure, _ = build_facts(summary_of(effect(same(0.3), same(0.4))))
    assert how_sure.answer == "Nothing changed" and len(how_sure.details) == 1
    assert how_much.details[0] == "urd@5 unchanged"
    _, how_much, _, _ = build_facts(summary_of(effect(NOTHING, same(0.4))))
    assert how_much.answer == "undefined"


def test_the_target_comes_first_then_its_cost_then_the_rest():
    effects = {"auc": TARGET, "ndcg@5": COST, "urd@5": TARGET}
    drawn = build_slopes(summary_of(effects=effects))
    assert [slope.metric for slope in drawn] == ["urd@5", "ndcg@5", "auc"]
    assert [slope.is_target for slope in drawn] == [True, False, False]


def test_the_interval_of_the_change_is_added_to_the_value_before():
    target, _ = build_slopes(summary_of())
    # 0.3 to 0.5, the change give or take 0.1
    assert (target.before, target.after) == (0.3, 0.5)
    assert (target.low, target.high) == (approx(0.4), approx(0.6))
    for part in ("0.300 before", "0.500 after", "+0.100 to +0.300", "95%", "improved"):
        assert part in target.alternative


def test_the_target_is_to_reach_all_others_and_a_tuned_cost_to_keep_its_share():
    target, cost = build_slopes(summary_of())
    assert target.others == Level(0.4, "to reach 0.400", "To reach: 0.400, as all others.")
    assert target.floor is None
    assert cost.others == Level(0.4, "all others 0.400", "All others: 0.400.")
    # 2% of 0.5 may be lost
    assert cost.floor == Level(approx(0.49), "to keep 0.490", "To keep: 0.490.")
    assert "All others: 0.400." in cost.alternative and "To keep: 0.490." in cost.alternative
    _, given = build_slopes(summary_of(is_tuned=False))
    assert given.floor is None and "To keep" not in given.alternative
    own, _ = build_slopes(summary_of(metric="ndcg@5"))
    assert own.floor is None


def test_nothing_is_to_be_reached_where_the_others_are_no_better():
    ahead, _ = build_slopes(summary_of(effect(change(0.5, 0.6), same(0.4))))
    assert ahead.others == Level(0.4, "all others 0.400", "All others: 0.400.")


def test_a_distance_is_to_reach_nothing():
    away = effect(change(0.3, 0.1), same(0.4), is_distance=True)
    target, _ = build_slopes(summary_of(away))
    assert target.metric == "distance in urd@5 from all others"
    assert target.others == Level(0.0, "to reach 0", "To reach: 0, as all others.")


@pytest.mark.parametrize(
    ("verdict", "tone"),
    [
        ("improved", "better"),
        ("worse", "worse"),
        ("changed", "neutral"),
        ("not significant", "neutral"),
    ],
)
def test_only_what_is_shown_has_a_colour(verdict, tone):
    target, _ = build_slopes(summary_of(effect(change(0.3, 0.5, verdict), same(0.4))))
    assert target.tone == tone and f", {verdict}." in target.alternative


def test_what_is_undefined_or_did_not_change_claims_no_interval():
    assert [slope.metric for slope in build_slopes(summary_of(effect(NOTHING, same(0.4))))] == [
        "ndcg@5"
    ]
    still, _ = build_slopes(summary_of(effect(same(0.3), same(0.4))))
    assert (still.low, still.high) == (None, None)
    assert "interval" not in still.alternative
    alone, _ = build_slopes(summary_of(effect(change(0.3, 0.5), same(0.4), others=NOTHING)))
    assert alone.others is None and "others" not in alone.alternative
