"""Findings in words."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import fairrec
from fairrec.report.words import number, signed
from tests.report.page.planted_page import planted, view_of
from tests.worlds import random_world


def test_a_finding_says_how_much_worse_in_words():
    group = view_of(planted()).findings[0]
    finding = planted().metrics["auc"].findings[0]
    others = finding.value - finding.difference
    assert group.served == "worse"
    assert group.users.startswith("61 users (")
    assert {one.metric for one in group.findings} == {"auc", "mrr@5"}
    card = group.findings[0]
    assert card.metric == "auc" and card.verdict == "worse"
    assert (card.value, card.others) == (number(finding.value), number(others))
    assert card.shrunken == signed(finding.shrunken_difference)
    assert f"{-finding.difference / others:.0%} lower" in card.sentence
    assert card.carried_by == "It is the combination."
    assert card.neighbours[0][0] == "gender=F, age=65+"
    assert (card.neighbours[0][1], len(card.neighbours)) == ("61", 4)
    assert card.unknown == ""


def test_a_finding_says_what_unknown_attributes_leave_open():
    users, predictions = random_world(2000, {"gender": "F", "age": "65+"}, effect=2.5, seed=1)
    hidden = pl.when(pl.col("user_id") % 20 == 0).then(None).otherwise(pl.col("gender"))
    result = fairrec.audit(
        predictions,
        users=users.with_columns(gender=hidden),
        by=["gender", "age"],
        metrics="auc",
        permutations=99,
    )
    (group,) = view_of(result).findings
    assert group.label == "gender=F, age=65+"
    (card,) = group.findings
    n_hidden = users.filter(pl.col("user_id") % 20 == 0, pl.col("age") == "65+").height
    assert card.unknown.startswith(f"Unknown attributes: {n_hidden} more users may belong to it. ")
    assert "it is worse than all others by 0." in card.unknown


def test_the_values_of_a_group_stand_beside_those_of_all_others():
    group = view_of(planted()).findings[0]
    result, finding = planted().metrics["auc"], planted().metrics["auc"].findings[0]
    assert len(group.bars) == len(result.bins) - 1 == len(finding.counts)
    assert sum(finding.counts) == finding.support
    assert sum(finding.counts_of_others) == result.n_defined - finding.support
    assert max(max(bar.own, bar.others) for bar in group.bars) == 100
    shares = [n / finding.support for n in finding.counts]
    tallest = max(*shares, *(n / sum(finding.counts_of_others) for n in finding.counts_of_others))
    assert [bar.own for bar in group.bars] == pytest.approx(
        [100 * share / tallest for share in shares], abs=0.06
    )


def test_a_result_without_counts_has_a_card_without_bars():
    summary = planted().summary
    auc = summary.metrics["auc"].model_copy(update={"bins": ()})
    old = replace(
        planted(), summary=summary.model_copy(update={"metrics": {**summary.metrics, "auc": auc}})
    )
    assert view_of(old).findings[0].bars == ()
