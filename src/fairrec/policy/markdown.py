"""The outcome of a gate as Markdown, for a pull request or the summary of a job."""

from __future__ import annotations

from fairrec.policy.outcome import GateResult
from fairrec.policy.words import MARKS, headline
from fairrec.report.text.markdown import escape


def to_markdown(gate: GateResult, *, explain: bool = False) -> str:
    """A table with one row a rule.

    Parameters
    ----------
    explain : whether to say what would have to be true for rules to pass that do not
    """
    about = " · ".join(filter(None, (gate.title, gate.model)))
    heads = ["", "rule", "measured", *(["to pass"] if explain else [])]
    lines = [
        f"### FairRec: {headline(gate)}",
        "",
        *([escape(about), ""] if about else []),
        f"| {' | '.join(heads)} |",
        "|---" * len(heads) + "|",
    ]
    for rule in gate.rules:
        warns = " (warning only)" if rule.severity == "warn" else ""
        cells = [MARKS[rule.outcome], escape(rule.what + warns), escape(rule.measured)]
        if explain:
            cells.append("" if rule.outcome == "passed" else escape(rule.explanation))
        lines.append(f"| {' | '.join(cells)} |")
    if gate.look:
        lines += ["", f"Look deeper: {escape(gate.look)}"]
    return "\n".join(lines) + "\n"
