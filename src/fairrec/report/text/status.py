"""What is known about the harm of groups, in a few words."""

from __future__ import annotations

from typing import Literal

from fairrec.core.units import USERS, EndWords, Unit
from fairrec.report.text.ends import is_worse
from fairrec.report.text.unknown import if_like_others_of
from fairrec.result.metric_schema import Finding, MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.verdict import Outcome

Status = Literal[
    "worse by more than matters",
    "worse, may be less than matters",
    "worse",
    "differs by more than matters",
    "differs, may be less than matters",
    "differs",
    "inconclusive",
    "not worse by more than matters",
    "differs by no more than matters",
    "same for everyone",
    "same for all",
    "not tested",
]
"""What matters most first."""
SAME: tuple[Status, ...] = ("same for everyone", "same for all")
"""Of users, and of all else."""
_STATUS: dict[tuple[Outcome, bool], Status] = {
    ("worse by more", True): "worse by more than matters",
    ("worse", True): "worse, may be less than matters",
    ("worse", False): "worse",
    ("differs by more", True): "differs by more than matters",
    ("differs", True): "differs, may be less than matters",
    ("differs", False): "differs",
    ("not worse by more", True): "not worse by more than matters",
    ("differs by no more", True): "differs by no more than matters",
}
"""By outcome and whether an amount matters."""


def status_of(result: MetricResult, unit: Unit = USERS) -> Status:
    """What is known about the harm of its groups, in a few words."""
    if not result.is_tested or (result.is_conclusive and not result.n_groups):
        return "not tested"
    if result.is_constant and result.is_conclusive:
        return "same for everyone" if unit.is_users else "same for all"
    outcome: Outcome = "inconclusive"
    has_amount = False
    if result.verdict is not None:
        outcome, has_amount = result.verdict.outcome, result.verdict.matters is not None
    return status_words(outcome, has_amount)


def status_words(outcome: Outcome, has_amount: bool) -> Status:
    """An outcome in a few words.

    Parameters
    ----------
    has_amount : whether something was said to matter
    """
    return _STATUS.get((outcome, has_amount), "inconclusive")


def outcome_words(
    finding: Finding, result: MetricResult, words: EndWords, summary: AuditSummary
) -> str:
    """What is known about one group, in a few words, and what that rests on."""
    if finding.outcome is None:
        return ""
    if not is_worse(finding, result):
        return words.better
    has_amount = result.verdict is not None and result.verdict.matters is not None
    said = (
        status_words(finding.outcome, has_amount),
        if_like_others_of(finding, result, summary),
    )
    return ", ".join(filter(None, said))
