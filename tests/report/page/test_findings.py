"""Findings in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
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
    # a random order has an AUC of 0.5, so that percent of it mean nothing
    assert card.sentence.endswith(f"{number(-finding.difference)} lower.")
    assert card.p_adjusted == "≤0.005"
    assert card.carried_by == "It is the combination."
    assert card.neighbours[0][0] == "gender=F, age=65+"
    assert (card.neighbours[0][1], len(card.neighbours)) == ("61", 4)
    assert card.unknown == ""


@pytest.mark.parametrize(
    ("scale", "shift", "sentence"),
    [
        (1.0, -0.9, "m is 0.600 for them and 0.100 for all others, 6 times as high."),
        (1.0, 0.0, "m is 1.50 for them and 1.00 for all others, 50% higher."),
        # of a metric that may be negative nothing is so many percent
        (1.0, -1.02, "m is 0.480 for them and −0.020 for all others, 0.500 higher."),
        (1e-7, 0.0, "m is 1.50e−7 for them and 1.00e−7 for all others, 50% higher."),
        (1e-4, 10.0, "m is 10.00010 for them and 10.00015 for all others, <0.1% lower."),
    ],
)
def test_percent_are_of_what_starts_at_nothing_and_no_digit_that_tells_is_lost(
    scale, shift, sentence
):
    n = 200
    is_more = np.arange(n) % 4 == 0
    noise = np.tile([0.1, 0.1, 0.1, 0.1, -0.1, -0.1, -0.1, -0.1], n // 8)
    values = pl.DataFrame(
        {
            "user_id": np.arange(n),
            "group": np.where(is_more, "more", "usual"),
            "m": scale * (1 + 0.5 * is_more + noise) + shift,
        }
    )
    result = fairrec.audit(
        values=values, by="group", statistics=fairrec.Statistics(permutations=99)
    )
    cards = view_of(result).findings
    (card,) = [card for card in cards if card.label == "group=more"] or cards
    (finding,) = card.findings
    assert finding.sentence == sentence
    assert "0 to 0" not in finding.interval and finding.served == "differs"


def test_a_finding_says_what_unknown_attributes_leave_open():
    users, predictions = random_world(2000, {"gender": "F", "age": "65+"}, effect=2.5, seed=1)
    hidden = pl.when(pl.col("user_id") % 20 == 0).then(None).otherwise(pl.col("gender"))
    result = fairrec.audit(
        predictions,
        users=users.with_columns(gender=hidden),
        by=["gender", "age"],
        metrics="auc",
        statistics=fairrec.Statistics(permutations=99),
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


def card_of(values):
    """The card of those with low values, who are a group."""
    table = pl.DataFrame({"user_id": np.arange(len(values)), "m": values})
    table = table.with_columns(
        group=pl.when(pl.col("m") < pl.col("m").median())
        .then(pl.lit("low"))
        .otherwise(pl.lit("high"))
    )
    result = fairrec.audit(
        values=table, by="group", metrics="m", statistics=fairrec.Statistics(permutations=99)
    )
    return view_of(result).findings[0]


def test_few_values_stand_below_their_bars():
    card = card_of(np.repeat([0.0, 1.0, 1.0], 100))
    assert card.scale == ("0", "1.00")
    assert [bar.text.split(":")[0] for bar in card.bars] == ["0", "1.00"]
    assert card_of(np.repeat(np.arange(7) / 7, 60)).scale == ("0", *[""] * 5, "0.857")


def test_a_bin_with_a_far_tail_does_not_say_where_it_ends():
    values = np.append(np.linspace(1, 2, 999), 50.0)
    card = card_of(values)
    assert card.scale[0] == "1.00" and card.scale[1].endswith(" and more")
    assert card.bars[-1].text.split(":")[0].endswith(" to 50.0")
    assert card_of(-values).scale[0].startswith("below −")


def test_a_result_without_counts_has_a_card_without_bars():
    summary = planted().summary
    auc = summary.metrics["auc"].model_copy(update={"bins": ()})
    old = replace(
        planted(), summary=summary.model_copy(update={"metrics": {**summary.metrics, "auc": auc}})
    )
    assert view_of(old).findings[0].bars == ()


def test_what_rounding_leaves_of_nothing_is_no_base_of_percent():
    n = 90
    is_less = np.arange(n) % 3 == 0
    values = pl.DataFrame(
        {
            "user_id": np.arange(n),
            "age": np.where(is_less, "20", "40"),
            # ones and nothing, whose mean leaves a hair
            "affected": is_less.astype(float),
        }
    )
    result = fairrec.audit(
        values=values,
        by="age",
        tables=fairrec.Tables(better="affected=lower"),
        statistics=fairrec.Statistics(permutations=99),
    )
    metric = result.metrics["affected"]
    (finding,) = metric.findings
    left = finding.model_copy(update={"difference": 1 - 3.3e-16, "raw_difference": None})
    summary = result.summary.model_copy(
        update={"metrics": {"affected": metric.model_copy(update={"findings": (left,)})}}
    )
    (card,) = view_of(replace(result, summary=summary)).findings
    (shown,) = card.findings
    assert shown.sentence == "affected is 1.00 for them and 0 for all others, 1.00 higher."
