"""What to mitigate and how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairrec.core.errors import InputError
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.mitigation import RERANKERS
from fairrec.mitigation.reranker import default_reranker
from fairrec.mitigation.worst import parse_worst


@dataclass(frozen=True, slots=True)
class MitigationOptions:
    """What to mitigate and how.

    Parameters
    ----------
    metric : the target, such as "urd@5"
    groups : "worst:10%", "worst:5", "findings", or a file with one group a row
    reranker : a registered name; None for the one made for the metric
    strength : 0 to 1, or "auto"
    max_loss : largest relative loss of NDCG among the chosen groups when the strength is tuned
    allow_level_down : also serve the best served groups worse
    """

    metric: str
    groups: str | Path = "worst:10%"
    reranker: str | None = None
    strength: float | Literal["auto"] = "auto"
    max_loss: float = 0.02
    allow_level_down: bool = False

    def __post_init__(self) -> None:
        is_number = isinstance(self.strength, int | float)
        if self.strength != "auto" and not (is_number and 0 <= self.strength <= 1):
            raise InputError(
                f"--strength {self.strength} is not possible. Give 'auto' or a number from 0, "
                "which changes nothing, to 1."
            )
        if not 0 <= self.max_loss <= 1:
            raise InputError(
                f"--max-loss {self.max_loss} is not possible. Give a share from 0 to 1, such as "
                "0.02."
            )
        target = self.target
        if target.metric.pooled:
            raise InputError(
                f"Metric '{target.name}' is no mean over users, so its change cannot be tested. "
                "Name one that is, such as auc."
            )
        if self.allow_level_down and target.metric.higher_is_better is None:
            raise InputError(
                f"--allow-level-down: neither end of '{target.name}' is better, so there is no "
                "group to serve worse. Leave it out."
            )
        RERANKERS[self.reranker_name]
        if isinstance(self.groups, str):
            parse_worst(self.groups)

    @property
    def target(self) -> MetricAtK:
        """The metric to improve."""
        return parse_metric(self.metric)

    @property
    def reranker_name(self) -> str:
        """The re-ranker named, or the one made for the metric."""
        name = self.reranker or default_reranker(self.target.metric.name)
        if name is None:
            raise InputError(
                f"No re-ranker is made for '{self.target.name}'. Name one: "
                f"--reranker {' | '.join(RERANKERS)}"
            )
        return name

    def as_call(self) -> str:
        """The call that repeats it from Python."""
        return (
            f"fairrec.mitigate(predictions, users=users, by=by, metric={self.metric!r}, "
            f"groups={str(self.groups)!r}, reranker={self.reranker_name!r}, "
            f"strength={self.strength!r}, max_loss={self.max_loss!r}, "
            f"allow_level_down={self.allow_level_down!r})"
        )
