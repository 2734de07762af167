"""What a gate found: one outcome a rule, and one for all of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fairrec.core.version import __version__
from fairrec.inputs.users import Value
from fairrec.policy.gate_options import Inconclusive
from fairrec.policy.rules import Policy, RuleKind
from fairrec.result.parts import Part

Passing = Literal["failed", "inconclusive", "passed"]
PRECEDENCE: tuple[Passing, ...] = ("failed", "inconclusive", "passed")
"""What decides first."""
PASSED, FAILED, BAD_INPUT, INCONCLUSIVE = range(4)
"""Exit codes."""


class JudgedGroup(Part):
    """A group that a rule was decided by."""

    group: dict[str, Value]
    label: str
    support: int = Field(description="its users")
    measured: float | None = Field(
        description="how much worse it is, in units of the limit; null where the baseline or the "
        "audit has no value of it"
    )
    interval: tuple[float | None, float | None] = Field(
        description="of that, for all groups and metrics at once; an end is null without a limit"
    )


class RuleOutcome(Part):
    """What became of one rule."""

    number: int = Field(description="its place in the policy, from 1; 0 for what is required")
    kind: RuleKind | Literal["max_undefined"]
    metric: str
    severity: Literal["fail", "warn"]
    outcome: Passing
    limit: float = Field(description="in units of the metric, or of the ratio")
    what: str = Field(description="what the rule asks for, in words")
    measured: str = Field(description="what was measured, in words")
    explanation: str = Field(description="what would have to be true for it to pass, in words")
    decided_by: JudgedGroup | None = Field(
        default=None, description="null where it is about no single group"
    )
    n_failed: int = Field(default=0, description="groups shown to be beyond the limit")
    n_open: int = Field(default=0, description="groups that had to be ruled out and are not")
    n_ruled_out: int = Field(default=0, description="groups that had to be ruled out and are")


class GateResult(Part):
    """The content of a gate's JSON."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str = __version__
    title: str
    model: str
    baseline: str | None = Field(description="null where none was given")
    inconclusive: Inconclusive | None = Field(
        description="what an inconclusive rule counts as; null for neither"
    )
    outcome: Passing
    exit_code: int
    look: str = Field(description="where to look deeper, in words; empty where nothing is saved")
    policy: Policy
    rules: tuple[RuleOutcome, ...]

    def __str__(self) -> str:
        from fairrec.policy.formats import to_text

        return to_text(self)

    def __repr__(self) -> str:
        """One line a rule, and the outcome of all."""
        return str(self)

    @property
    def has_passed(self) -> bool:
        """Whether nothing stands in the way."""
        return self.exit_code == PASSED

    def counts_as_failed(self, rule: RuleOutcome) -> bool:
        """Whether a rule makes the gate fail."""
        is_failed = rule.outcome == "failed" or (
            rule.outcome == "inconclusive" and self.inconclusive == "fail"
        )
        return is_failed and rule.severity == "fail"


def outcome_of_rules(
    rules: tuple[RuleOutcome, ...], inconclusive: Inconclusive | None
) -> tuple[Passing, int]:
    """The outcome of all rules, and the exit code; warnings change neither."""
    found: set[Passing] = {rule.outcome for rule in rules if rule.severity == "fail"}
    outcome: Passing = min(found, key=PRECEDENCE.index, default="passed")
    if outcome == "inconclusive" and inconclusive is not None:
        return outcome, FAILED if inconclusive == "fail" else PASSED
    return outcome, {"failed": FAILED, "inconclusive": INCONCLUSIVE, "passed": PASSED}[outcome]
