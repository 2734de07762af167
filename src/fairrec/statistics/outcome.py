"""The words for what is known about a harm: the same for a group, a metric and a whole audit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

Outcome = Literal[
    "worse by more",
    "worse",
    "differs by more",
    "differs",
    "inconclusive",
    "not worse by more",
    "differs by no more",
]
"""Than matters; without an amount that matters there is only worse or differs, and inconclusive."""
BY_MORE, WORSE, OPEN, RULED_OUT = range(4)
"""What is known of a group, as arrays hold it; what matters most first."""
_WORSE: tuple[Outcome, ...] = ("worse by more", "worse", "inconclusive", "not worse by more")
_DIFFERS: tuple[Outcome, ...] = (
    "differs by more",
    "differs",
    "inconclusive",
    "differs by no more",
)


def outcome_names(higher_is_better: bool | None) -> tuple[Outcome, ...]:
    """The words for the positions above; where neither end is better, no group is worse.

    >>> outcome_names(None)[WORSE], outcome_names(False)[WORSE]
    ('differs', 'worse')
    """
    return _DIFFERS if higher_is_better is None else _WORSE


def position_of(outcome: Outcome) -> int:
    """The position of a word, whatever the metric.

    >>> position_of("differs by more") == position_of("worse by more") == BY_MORE
    True
    """
    return (_WORSE if outcome in _WORSE else _DIFFERS).index(outcome)


def outcome_of_all(outcomes: Iterable[tuple[Outcome, bool | None]]) -> Outcome:
    """The one that matters most, such as among the metrics of an audit.

    A metric of which neither end is better decides only where there is no other.

    Parameters
    ----------
    outcomes : each with whether higher is better in its metric
    """
    found = [*outcomes]
    ended = [outcome for outcome, better in found if better is not None]
    return min(
        ended or [outcome for outcome, _ in found],
        key=get_args(Outcome).index,
        default="inconclusive",
    )
