"""P-values that more draws might make smaller."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fairrec.core.units import ITEMS, USERS
from fairrec.report.text.metric_words import p_adjusted, p_of_gap
from fairrec.statistics.bootstrap import N_DRAWS
from fairrec.statistics.findings import Chance


@pytest.mark.parametrize(
    ("adjusted", "text"), [(0.001, "≤0.001"), (0.002, "0.002"), (0.004, "0.004")]
)
def test_the_least_that_can_be_shown_is_a_bound(adjusted, text):
    summary = SimpleNamespace(permutations_drawn=999, unit=USERS)
    assert p_adjusted(adjusted, summary) == text


def test_of_items_users_drawn_again_have_a_least_whatever_was_permuted():
    summary = SimpleNamespace(permutations_drawn=99, unit=ITEMS, alpha=0.05)
    assert p_adjusted(1 / (1 + N_DRAWS), summary) == "≤0.001"
    assert p_adjusted(0.004, summary) == "0.004"


def test_a_gap_beyond_all_permutations_has_a_bound():
    chance = Chance(mean=0.1, q95=0.2, p_value=0.01, permutations=99)
    assert p_of_gap(chance) == "p ≤ 0.010"
    assert p_of_gap(chance.model_copy(update={"p_value": 0.02})) == "p = 0.020"
