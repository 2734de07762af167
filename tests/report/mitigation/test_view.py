"""The tables and curves of a mitigation."""

from __future__ import annotations

from fairrec.report.mitigation.view import GROUPS_SHOWN, TradeOffLine, build_mitigation_view
from fairrec.result.mitigation_schema import GapChange, HarmedGroup
from tests.report.mitigation.small_summary import (
    MEN,
    NOTHING,
    TARGET,
    WOMEN,
    chance,
    change,
    effect,
    point,
    same,
    summary_of,
)


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
    assert rows[3][5:7] == ("-0.0500", "-0.150 to +0.0500")


def test_nothing_and_nobody_claim_no_change():
    still = effect(same(0.3), NOTHING, is_distance=True, lowered=change(0.7, 0.6, "worse"))
    rows = build_mitigation_view(summary_of(still)).effects.rows[:4]
    assert rows[0] == (
        *("urd@5 (distance)", "chosen groups", "60", "0.300", "0.300", "0", "-", "-", "unchanged"),
    )
    assert rows[1][0] == "urd@5" and rows[1][5] == "-0.100"
    assert rows[2][1:4] == ("all others", "60", "0.400")
    assert rows[3][2:] == ("0", "-", "-", "0", "-", "-", "unchanged")


def test_gaps_stand_beside_what_chance_shows():
    gap = GapChange(before=0.4, after=0.2, chance_before=chance(0.01), chance_after=None)
    view = build_mitigation_view(summary_of(effect(change(0.3, 0.5), same(0.4), gap=gap)))
    before, by_chance, after, untested = view.gaps.rows[0][1:]
    assert (before, by_chance, after) == ("0.400", "0.100, p = 0.010", "0.200")
    assert untested == view.gaps.rows[1][2] and not any(map(str.isdigit, untested))
    none = gap.model_copy(update={"before": None})
    view = build_mitigation_view(summary_of(effect(change(0.3, 0.5), same(0.4), gap=none)))
    assert [row[0] for row in view.gaps.rows] == ["ndcg@5"]


def test_of_many_groups_the_first_are_shown_and_the_rest_counted():
    few = build_mitigation_view(summary_of(groups=(WOMEN, MEN))).groups
    assert [row[:2] for row in few.rows] == [
        ("gender=F", "0.250"),
        ("gender=M (served worse on purpose)", "0.750"),
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
