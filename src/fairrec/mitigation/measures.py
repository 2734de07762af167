"""What is measured of the lists: the metric to improve, what that may cost, and all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.remedy import Rescored
from fairrec.mitigation.split import cost_name


@dataclass(frozen=True, slots=True)
class Measures:
    """All metrics of a mitigation.

    Parameters
    ----------
    target : position of the one to improve
    cost : position of the accuracy that a strength must not cost; None where there are no labels
    """

    metrics: tuple[MetricAtK, ...]
    target: int
    cost: int | None
    threads: int

    @staticmethod
    def of(metrics: tuple[MetricAtK, ...], plan: MitigationOptions, threads: int) -> Measures:
        """The metrics with the places of the two that a mitigation weighs."""
        names = [metric.name for metric in metrics]
        cost = cost_name(plan)
        at = names.index(cost) if cost in names else None
        return Measures(metrics, names.index(plan.target.name), at, threads)

    @property
    def directions(self) -> dict[str, bool | None]:
        """Name -> whether higher is better, None where neither end is."""
        return {metric.name: metric.metric.higher_is_better for metric in self.metrics}

    @property
    def cost_name(self) -> str | None:
        """The accuracy that a strength must not cost."""
        return None if self.cost is None else self.metrics[self.cost].name

    def values(self, inputs: AuditInputs) -> FloatArray:
        """(n_metrics, n_users), NaN where undefined."""
        return measure_everyone(inputs, self.metrics, self.threads).values

    def at_strengths(
        self,
        rescored: Rescored,
        inputs: AuditInputs,
        strengths: Sequence[float],
        progress: Progress,
    ) -> FloatArray:
        """(n_strengths, 2, n_users), target and cost; a cost of NaN where there are no labels."""
        wanted = [self.target, *([] if self.cost is None else [self.cost])]
        metrics = [self.metrics[at] for at in wanted]
        measured = np.full((len(strengths), 2, inputs.n_users), np.nan)
        for at, strength in enumerate(strengths):
            progress("tuning the strength", at, len(strengths))
            reranked = inputs.with_scores(rescored.at(strength))
            measured[at, : len(metrics)] = measure_everyone(reranked, metrics, self.threads).values
        return measured
