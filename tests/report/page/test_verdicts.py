"""The answer of the page, and the gap beside chance."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import get_args

import pytest

from fairrec.core.units import USERS
from fairrec.report.page.build import answer, verdict_card
from fairrec.report.text.verdict import Status, Verdict
from fairrec.statistics.findings import Chance


def said(**metrics: str) -> str:
    """The answer where these metrics have these verdicts."""
    return answer(tuple(Verdict(name, status, "", "", "", "") for name, status in metrics.items()))


def test_what_matters_most_comes_first_and_the_untested_last():
    text = said(m1="not tested", m2="worse", m3="inconclusive", m4="worse", m5="worse")
    assert text == "Groups worse off in m2, m4 and m5; inconclusive in m3; not tested: m1."
    assert said(m1="worse").count(" and ") == 0
    text = said(m1="not worse by more than matters", m2="worse by more than matters", m3="differs")
    assert re.findall(r"m\d", text) == ["m2", "m3", "m1"]


@pytest.mark.parametrize("status", get_args(Status)[:-1])
def test_every_verdict_has_its_words(status):
    text = said(m1=status)
    assert text.endswith("m1.") and text[0].isupper()


def test_without_a_test_nothing_is_cleared():
    text = said(m1="not tested", m2="not tested")
    assert text == "Nothing was tested against chance."


def test_what_is_inconclusive_is_said_before_what_is_clear():
    text = said(
        m1="same for everyone",
        m2="not worse by more than matters",
        m3="inconclusive",
        m4="not tested",
    )
    assert text == (
        "Inconclusive in m3; not worse by more than matters in m2; the same for everyone: m1; "
        "not tested: m4."
    )


def card_of(
    gap: float | None,
    mean: float = 0.1,
    q95: float = 0.2,
    p: float = 0.02,
    tested: bool = True,
    is_adjusted: bool = False,
    scored: int = 100,
    **changes: object,
):
    chance = Chance(mean=mean, q95=q95, p_value=p, permutations=99) if tested else None
    parts = {"mean": 0.75, "n_undefined": 0, "is_constant": False, **changes}
    result = SimpleNamespace(gap=gap, chance=chance, **parts)
    summary = SimpleNamespace(
        unit=USERS,
        given=object() if is_adjusted else None,
        search=SimpleNamespace(users_scored=scored, users_total=100),
    )
    return verdict_card(2, Verdict("auc", "worse", "", "", "", ""), result, summary)


def test_the_largest_of_gap_and_chance_nearly_fills_the_scale():
    card = card_of(0.4)
    assert (card.anchor, card.mean) == ("chart-2", "0.750")
    scale = card.scale
    assert (scale.gap, scale.chance, scale.q95) == ("0.400", "0.100", "0.200")
    # the end of the scale is 1.08 times the largest
    assert scale.gap_at == round(100 / 1.08, 1)
    assert scale.chance_at == round(25 / 1.08, 1)
    assert scale.q95_at == round(50 / 1.08, 1)
    assert "p = 0.020" in scale.alternative
    assert card_of(0.1, q95=0.5).scale.q95_at == round(100 / 1.08, 1)


@pytest.mark.parametrize(
    ("gap", "p", "is_beyond"),
    [(0.21, 0.02, True), (0.2, 0.02, False), (0.0, 0.9, False), (0.21, 0.2, False)],
)
def test_a_gap_is_beyond_chance_above_its_upper_end_and_in_standard_errors(gap, p, is_beyond):
    scale = card_of(gap, p=p).scale
    assert scale.is_beyond == is_beyond
    # where only one of both is, it says which
    agree = (gap > 0.2) == (p < 0.05)
    assert ("as it is, " in scale.alternative) != agree


def test_a_scale_of_nothing_starts_at_nothing_and_without_a_test_there_is_none():
    scale = card_of(0.0, 0.0, 0.0).scale
    assert (scale.gap_at, scale.chance_at, scale.q95_at) == (0, 0, 0)
    assert card_of(None).scale is None
    assert card_of(0.4, tested=False).scale is None
    assert card_of(0.0, is_constant=True).scale is None


def test_the_mean_is_of_those_with_a_value():
    assert card_of(0.4).mean_over == "mean over all users"
    assert card_of(0.4, n_undefined=3).mean_over == "mean over users with a value"


def test_the_mean_of_a_search_is_an_estimate_and_says_from_whom():
    card = card_of(0.4, scored=60, n_compared=20)
    assert card.mean_over == "mean, estimated from 20 users drawn at random"


def test_a_gap_as_it_is_does_not_stand_beside_what_chance_shows_within_circumstances():
    assert card_of(0.3, is_adjusted=True).scale is None
