"""Findings in words."""

from __future__ import annotations

from tests.report.page.planted_page import planted, view_of


def test_a_finding_says_how_much_worse_in_words():
    card = view_of(planted()).findings[0]
    finding = planted().metrics["auc"].findings[0]
    others = finding.value - finding.difference
    assert card.served == "worse"
    assert card.users == "61 users"
    assert f"{-finding.difference / others:.0%} lower" in card.sentence
    assert {part.attribute for part in card.contributions} == {"gender=F", "age=65+"}
    assert all(part.is_worse for part in card.contributions)
