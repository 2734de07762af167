"""A mitigation in words, tables and on its page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from markupsafe import escape

import fairrec
from fairrec.mitigation.page import mitigation_page, trade_off, trade_offs
from fairrec.mitigation.result import HarmedGroup, MitigationSummary, load_mitigation
from fairrec.mitigation.words import (
    GROUPS_SHOWN,
    headline,
    mitigation_answer,
    mitigation_markdown,
    notes,
    sentences,
    tables,
    target_name,
)
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
    effect,
    point,
    same,
    summary_of,
    to_others,
)
from tests.report.drawing import svg
from tests.worlds import random_world

METRICS = ["ndcg@5", "urd@5", "urp@5", "auc"]


def test_changes_are_rows_of_signed_numbers():
    harm = HarmedGroup(metric="ndcg@5", group={"age": "65+"}, change=change(0.5, 0.45, "worse"))
    groups, harmed = tables(summary_of(groups=(WOMEN, MEN), harmed=(harm,)))
    assert [row[:2] for row in groups.rows] == [("gender=F", "0.250"), ("gender=M", "0.750")]
    assert groups.rows[0][2:] == (
        *("40", "0.300", "0.500", "+0.200", "+0.100 to +0.300", "0.010", "improved"),
    )
    # 0.5 to 0.45, give or take 0.1
    assert harmed.rows[0][:3] == ("ndcg@5", "age=65+", "40")
    assert harmed.rows[0][5:7] == ("−0.050", "−0.150 to +0.050")
    for table in (groups, harmed):
        assert {len(row) for row in table.rows} == {len(table.columns)} == {len(table.numeric)}
    (many,) = tables(summary_of(groups=(WOMEN,) * (GROUPS_SHOWN + 5)))
    assert len(many.rows) == GROUPS_SHOWN and "5 more" in many.note


def test_nothing_and_nobody_claim_no_change():
    first = mitigation_answer(summary_of(effect(same(0.3), NOTHING))).table.blocks[0]
    assert [row.cells for row in first.rows] == [
        ("0.300", "0.300", "0", "-", "unchanged"),
        ("-", "-", "-", "-", "unchanged"),
    ]


def numbers_in(part: Any) -> Iterator[float]:
    """All numbers of a JSON value, however deep."""
    if isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from numbers_in(inner)
    elif isinstance(part, int | float) and not isinstance(part, bool):
        yield part


def printed_numbers(kept: dict[str, Any]) -> set[str]:
    """Every number that may be printed: those of the file, and shares of them."""
    shares = {
        f"{100 * change['change'] / change['before']:+.2f}".replace("-", MINUS)
        for effect in kept["effects"].values()
        for change in (effect["chosen"], effect["everyone"])
        if change["before"]
    }
    forms = {
        text
        for value in numbers_in(kept)
        for text in (
            number(value),
            number(abs(value)),
            signed(value),
            f"{value:,}",
            f"{value:.3f}",
            f"{value:g}",
        )
    }
    # 0 for no change, 0.001 as the smallest p-value that is printed
    return shares | forms | {str(len(kept["groups"])), "0", "0.001"}


@pytest.mark.parametrize(
    ("worse", "metric", "options"),
    [
        ("accuracy", "ndcg@5", {}),
        ("diversity", "urd@5", {"max_loss": 0.5}),
        ("accuracy", "urp@5", {"groups": "worst:3", "reranker": "popularity_calibrated"}),
    ],
)
def test_every_printed_number_is_in_the_file(tmp_path, worse, metric, options):
    result = mitigate(planted(worse), metric, metrics=METRICS, **options)
    result.save(tmp_path, report=False)
    kept = json.loads((tmp_path / "mitigation.json").read_text())
    saved = load_mitigation(tmp_path, load_saved(tmp_path)[1])
    assert saved == result.summary
    answer = mitigation_answer(saved)
    printed = [answer.headline, *sentences(saved)]
    names = "|".join(map(re.escape, (*METRICS, "worst:1", "worst:3")))
    found = re.findall(r"[−+-]?\d[\d,]*(?:\.\d+)?", re.sub(names, "", " ".join(printed)))
    assert len(found) > 10
    allowed = printed_numbers(kept)
    assert [text for text in found if text.rstrip(",") not in allowed] == []


def sentence(summary: MitigationSummary, word: str) -> str:
    """The one sentence with a word, or nothing."""
    found = [said for said in sentences(summary) if word in said]
    assert len(found) <= 1
    return "".join(found)


def test_the_headline_has_both_means_and_the_number_of_groups():
    assert "urd@5 of the chosen group went from 0.300 to 0.500, a sig" in headline(summary_of())
    assert "2 chosen groups" in headline(summary_of(groups=(WOMEN, MEN)))
    untouched = headline(summary_of(strength=0.0))
    assert "0.300" in untouched and "0.500" not in untouched
    assert "undefined" in headline(summary_of(effect(NOTHING, same(0.4))))


@pytest.mark.parametrize("outcome", ["turned round", "gap grew", "worse", "not significant"])
def test_only_an_improvement_is_called_one(outcome):
    summary = summary_of(outcome=outcome)
    assert "improvement" not in headline(summary)
    assert mitigation_answer(summary).tone == ("found" if outcome == "worse" else "open")
    assert mitigation_answer(summary_of()).tone == "clear"


def test_a_distance_is_called_one():
    away = TARGET.model_copy(update={"is_distance": True})
    assert target_name(summary_of()) == "urd@5"
    assert "distance" in target_name(summary_of(away))
    # how far the others are from themselves says nothing
    assert "Gap to all others" not in headline(summary_of(away))
    assert headline(summary_of(away)).endswith("p = 0.010 before and p = 0.300 after.")
    assert sentence(summary_of(away), "negative beyond") and not sentence(summary_of(), "negative")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (0.1, 0.02, "behind by 0.100 (p = 0.010) before, behind by 0.0200 (p = 0.300) after."),
        (-0.1, -0.2, "ahead by 0.100 (p = 0.010) before, ahead by 0.200 (p = 0.300) after."),
    ],
)
def test_the_headline_places_the_chosen_groups_beside_the_others(before, after, said):
    gap = to_others(before, after)
    assert headline(summary_of(to_others=gap)).endswith(f"Gap to all others (0.400): {said}")
    # without others there is nothing to be level with
    nobody = gap.model_copy(update={"before": None, "p_before": None})
    assert headline(summary_of(to_others=nobody)).endswith("a significant improvement.")


def test_what_must_not_be_overlooked_is_a_warning():
    assert notes(summary_of()) == ()
    summary = summary_of(n_shared_targets=3, notes=("check: c\nd", "odd"))
    found = [(note.kind, note.text) for note in notes(summary)]
    assert [kind for kind, _ in found] == ["warning", "check", "note"]
    assert found[0][1].startswith("SAME TARGETS: 3 targets") and found[1][1] == r"c\nd"


def test_the_protocol_comes_first():
    first = sentences(summary_of())[0]
    assert "90 users" in first and "0.5 (tuned)" in first and "held-out test targets" in first
    halves = sentences(summary_of(protocol="halves of the users", is_tuned=False))[0]
    assert "one half of the users (90" in halves and "(100" in halves and "0.5 (given)" in halves


def test_the_drift_of_the_chosen_is_no_effect():
    found = sentence(summary_of(), "Before re-ranking")
    assert "0.250" in found and "0.300" in found and "0.420 and 0.400" in found
    unknown = summary_of().regression.model_copy(update={"chosen_by": None})
    assert not sentence(summary_of(regression=unknown), "Before re-ranking")


def test_a_tested_gap_has_its_p_values():
    gap = GapChange(before=0.4, after=0.2, chance_before=chance(0.01), chance_after=chance(0.3))
    tested = summary_of(effect(change(0.3, 0.5), same(0.4), gap=gap))
    assert "0.400 (p ≤ 0.010) and is 0.200 (p = 0.300)" in sentence(tested, "The gap in")
    assert not sentence(summary_of(), "The gap in")


def test_the_cost_is_a_share_of_the_accuracy_before():
    found = sentence(summary_of(), "ndcg@5 changed")
    # 0.5 to 0.45, and 0.6 to 0.594
    assert "−10.00% (significant) for the chosen group" in found
    assert "−1.00% (significant) for all users" in found
    assert not sentence(summary_of(cost_metric=None), "ndcg@5 changed")


def test_metrics_and_groups_that_became_worse_are_named():
    found = sentences(summary_of())
    assert [one for one in found if one.endswith(": ndcg@5.")]
    assert "60 other users" in sentence(summary_of(), "other user")
    assert "No single group" in found[-1] and "12 comparisons" in found[-1]
    # where no list was changed nothing was compared
    assert "comparison" not in " ".join(sentences(summary_of(n_group_tests=0)))
    harmed = COST.model_copy(update={"n_groups_worse": 2})
    last = sentences(summary_of(effects={"urd@5": TARGET, "ndcg@5": harmed}))[-1]
    assert last.endswith(": 2 groups in ndcg@5.")


def test_the_answer_names_the_groups_and_has_every_metric():
    effects = {"auc": TARGET, "ndcg@5": COST, "urd@5": TARGET}
    answer = mitigation_answer(summary_of(effects=effects, groups=(WOMEN,) * 5))
    assert answer.about[0].startswith(
        "5 chosen groups: gender=F · gender=F · and 3 more; 40 of 100"
    )
    # the target comes first, then its cost
    assert [block.name for block in answer.table.blocks] == ["urd@5", "ndcg@5", "auc"]
    assert answer.table.blocks[0].rows[0].cells == (
        *("0.300", "0.500", "+0.200", "+0.100 to +0.300", "improved"),
    )
    assert [len(block.rows) for block in answer.table.blocks] == [2, 2, 1]


def test_markdown_has_every_part_in_order_and_outside_text_on_its_line():
    summary = summary_of(
        command="a\nb",
        n_shared_targets=3,
        groups=(WOMEN.model_copy(update={"group": {"x\n": "\x1b"}}),),
        effects={"urd@5": TARGET, "ndcg@5": COST, "odd\n": TARGET},
    )
    markdown = mitigation_markdown(summary).replace("\\", "")
    parts = (headline(summary), "SAME TARGETS", sentences(summary)[-1], "anb", "seed 7")
    places = [markdown.index(part) for part in parts]
    assert places == sorted(places)
    assert "\x1b" not in markdown


def test_the_curves_are_those_of_the_target_and_of_its_cost():
    target, cost = trade_offs(summary_of()).items()
    assert target == ("urd@5", {0.0: 0.2, 0.5: 0.35, 1.0: 0.4})
    assert cost == ("ndcg@5", {0.0: 0.5, 0.5: 0.5, 1.0: 0.5})
    assert [*trade_offs(summary_of(metric="ndcg@5"))] == ["ndcg@5"]
    # without labels there is no cost
    assert [*trade_offs(summary_of(trade_off=(point(0.0, 0.2, None),)))] == ["urd@5"]
    figure = trade_off(*target, taken=0.5)
    assert [row["value"] for row in figure.data["line"]] == [0.2, 0.35, 0.4]
    assert figure.data["taken"] == [{"strength": 0.5}]
    assert "urd@5" in svg(figure.chart())


def test_the_page_has_every_sentence_once_and_escapes_names():
    users, predictions = random_world(300)
    result = fairrec.audit(
        predictions,
        users=users,
        by="gender",
        metrics="auc",
        statistics=fairrec.Statistics(permutations=0),
    )
    hostile = WOMEN.model_copy(update={"group": {"x": "<b>old</b>"}})
    done = summary_of(groups=(hostile,))
    page = mitigation_page(done, result.summary, result.group_table)
    first, _, section = page.partition('<section id="mitigation"')
    for text in sentences(done):
        assert first.count(str(escape(text))) == 1 and str(escape(text)) not in section
    assert "<b>old" not in page and "x=&lt;b&gt;old" in first
    assert "mitigation-0" in page.split('id="payload">')[1].split("</script>")[0]
