"""What an audit comes to, in one small object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairrec.core.errors import plain
from fairrec.result.metric_schema import MetricVerdict
from fairrec.result.schema import AuditSummary
from fairrec.statistics.outcome import Outcome


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """The outcome of an audit, and of each metric that was tested.

    Parameters
    ----------
    outcome : that of the metrics which matters most: "worse by more" (than matters), "worse",
        "inconclusive" or "not worse by more". Metrics of which neither end is better decide only
        where there are no others: "differs by more", "differs", "inconclusive" or "differs by no
        more". None where nothing was tested
    metrics : metric -> how many groups are worse, ruled out and open, and the certificate
    """

    outcome: Outcome | None
    metrics: Mapping[str, MetricVerdict]

    def __repr__(self) -> str:
        """The outcome, and a line for each metric."""
        lines = [
            f"  {plain(name)}: {one.outcome} (groups by more: {one.n_worse_by_more:,}, extent "
            f"unclear: {one.n_worse:,}, ruled out: {one.n_ruled_out:,}{_rests(one)}, open: "
            f"{one.n_open:,})"
            for name, one in self.metrics.items()
        ]
        return "\n".join([self.outcome or "not tested", *lines])


def _rests(verdict: MetricVerdict) -> str:
    """How many groups are ruled out only if unknown attributes make no difference."""
    n = verdict.n_exceeding_at_worst
    return f" ({n:,} if those of unknown attributes are like the others)" if n else ""


def audit_verdict(summary: AuditSummary) -> AuditVerdict:
    """The verdict that a result holds."""
    verdicts = {name: about.verdict for name, about in summary.metrics.items()}
    return AuditVerdict(
        outcome=summary.outcome,
        metrics={name: verdict for name, verdict in verdicts.items() if verdict is not None},
    )
