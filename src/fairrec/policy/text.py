"""The outcome of a gate as text, for a terminal and for whoever writes tests."""

from __future__ import annotations

from fairrec.policy.outcome import GateResult
from fairrec.policy.words import MARKS, headline, line_of


def to_text(gate: GateResult, *, explain: bool = False) -> str:
    """One line a rule, then the outcome of all.

    Parameters
    ----------
    explain : whether to say what would have to be true for rules to pass that do not
    """
    lines = []
    for rule in gate.rules:
        lines.append(f"{MARKS[rule.outcome]}  {line_of(rule)}")
        if explain and rule.outcome != "passed":
            lines.append(f"      to pass: {rule.explanation}")
    look = f" Look deeper: {gate.look}" if gate.look and gate.outcome != "passed" else ""
    return "\n".join([*lines, f"{headline(gate)}{look}"])
