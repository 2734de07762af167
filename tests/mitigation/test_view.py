"""The tables and curves of a mitigation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest
from pytest import approx

from fairrec.mitigation.mitigation_result import load_mitigation
from fairrec.mitigation.schema import HarmedGroup
from fairrec.mitigation.view import GROUPS_SHOWN, TradeOffLine, build_mitigation_view
from fairrec.report.words import MINUS, number, signed
from fairrec.result.metric_schema import GapChange
from fairrec.result.saved import load_saved
from tests.mitigation.planted import mitigate, planted
from tests.mitigation.small_summary import (
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
        str(effect["ordered"]["n_groups"] - effect["ordered"]["n_blind"])
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
        ("accuracy", "urp@5", {"groups": "worst:3"}),
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
        *(text for strip in view.strips.rows for text in (strip.words, strip.first, strip.last)),
        *(text for strip in view.strips.rows for pair in strip.harmed for text in pair),
        view.strips.headline,
        view.strips.about,
    ]
    allowed = made_of(kept)
    names = "|".join(map(re.escape, (*METRICS, "worst:1", "worst:3")))
    found = re.findall(r"[−+-]?\d[\d,]*(?:\.\d+)?", re.sub(names, "", " ".join(shown)))
    assert len(found) > 40
    assert [text for text in found if text.rstrip(",") not in allowed] == []
    assert len(view.slopes) == len(view.strips.rows) == len(METRICS)


def test_each_number_of_a_slope_is_that_of_its_own_metric(tmp_path):
    mitigate(planted(), "ndcg@5", metrics=METRICS).save(tmp_path, report=False)
    kept = json.loads((tmp_path / "mitigation.json").read_text())
    for slope in build_mitigation_view(load_mitigation(tmp_path, load_saved(tmp_path)[1])).slopes:
        effect = kept["effects"][slope.metric]
        assert (slope.before, slope.after) == (
            effect["chosen"]["before"],
            effect["chosen"]["after"],
        )
        low, high = effect["chosen"]["interval"]
        assert (slope.low - slope.before, slope.high - slope.before) == (approx(low), approx(high))
        assert slope.others.value == effect["others"]["before"] == effect["others"]["after"]


def test_the_strip_has_the_changes_of_the_table(tmp_path):
    result = mitigate(planted(), "ndcg@5", metrics=METRICS)
    for name, seen in result.summary.effects.items():
        table = result.changes.filter((pl.col("metric") == name) & (pl.col("change") != 0))
        worst_first = sorted(table["change"], reverse=seen.higher_is_better is False)
        assert seen.ordered.changes == approx(worst_first)
