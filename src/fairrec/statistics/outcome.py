"""The words for what is known about a harm: the same for a group, a metric and a whole audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

Outcome = Literal["worse by more", "worse", "inconclusive", "not worse by more"]
"""Than matters; without an amount that matters there is only worse and inconclusive."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""What matters most first."""
BY_MORE, WORSE, OPEN, RULED_OUT = range(4)
"""Their positions, as arrays hold them."""


def outcome_of_all(outcomes: Sequence[Outcome]) -> Outcome:
    """The one that matters most, such as among the metrics of an audit."""
    return min(outcomes, key=OUTCOMES.index, default="inconclusive")
