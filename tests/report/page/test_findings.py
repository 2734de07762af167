"""Findings in words."""

from __future__ import annotations

import polars as pl

import fairrec
from tests.report.page.planted_page import planted, view_of
from tests.worlds import random_world


def test_a_finding_says_how_much_worse_in_words():
    card = view_of(planted()).findings[0]
    finding = planted().metrics["auc"].findings[0]
    others = finding.value - finding.difference
    assert card.served == "worse"
    assert card.users == "61 users"
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
    (card,) = view_of(result).findings
    assert card.label == "gender=F, age=65+"
    n_hidden = users.filter(pl.col("user_id") % 20 == 0, pl.col("age") == "65+").height
    assert card.unknown.startswith(f"Unknown attributes: {n_hidden} more users may belong to it. ")
    assert "it is worse than all others by 0." in card.unknown
