"""The targets of a mitigation: chosen by or held out, and what is measured of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError, plain
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.parsing import DEFAULT_K
from fairrec.metrics.reading import read_inputs
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.tables import RESERVED, predictions_table
from fairrec.result.tables import RESERVED as GROUP_COLUMNS

if TYPE_CHECKING:
    from fairrec.mitigation.remedy import Rescored


@dataclass(frozen=True, slots=True)
class TargetSplit:
    """Who is chosen by, who is held out to report on, and all lists to re-rank in the end."""

    choosing: AuditInputs
    reported: AuditInputs
    everyone: AuditInputs
    protocol: Literal["validation targets", "halves of the users"]
    metrics: tuple[MetricAtK, ...]

    @property
    def per_user_metrics(self) -> tuple[MetricAtK, ...]:
        """Those that are means over users."""
        return tuple(metric for metric in self.metrics if not metric.metric.pooled)


def read_split(
    predictions: Any,
    validation: Any,
    tables: TableOptions,
    seed: int,
    max_memory: int | None = None,
) -> TargetSplit:
    """Read all tables, and say who is chosen by and who is held out to report on."""
    settings: dict[str, Any] = {
        "given": tables,
        "wants": ("items", "history"),
        "reserved": (*GROUP_COLUMNS, *RESERVED),
        "max_memory": max_memory,
    }
    if tables.test is not None and validation is not None:
        raise InputError(
            f"{spell('validation')} holds candidates with labels, and {spell('test')} what was "
            f"held out for recommendations: one of them only. Without {spell('validation')}, "
            "half of the users are chosen by and the other half reported on."
        )
    everyone, wanted = read_inputs(predictions, **settings)
    if validation is not None:
        choosing, _ = read_inputs(validation, **settings)
        for one, other in zip(choosing.attributes, everyone.attributes, strict=True):
            if one.binning and "quantiles" in one.binning and one.values != other.values:
                raise InputError(
                    f"Attribute '{plain(one.name)}' falls into other quantiles for the users with "
                    "validation targets. Bin it by width (age:10), or give the same users in both."
                )
        return TargetSplit(choosing, everyone, everyone, "validation targets", wanted)
    rng = np.random.default_rng(seed)
    order, absent = rng.permutation(everyone.n_users), rng.permutation(everyone.absent)
    middle, of_absent = len(order) // 2, len(absent) // 2
    # who is missing is divided too, or each half would seem to lack the users of both
    choosing, reported = (
        replace(everyone.for_users(np.sort(half)), absent=np.sort(without))
        for half, without in (
            (order[:middle], absent[:of_absent]),
            (order[middle:], absent[of_absent:]),
        )
    )
    return TargetSplit(choosing, reported, everyone, "halves of the users", wanted)


def n_shared_targets(choosing: AuditInputs, reported: AuditInputs) -> int:
    """How many targets are both chosen by and reported on, so not held out; with halves none."""
    keys = ["user_id", "item_id"]
    targets = [
        predictions_table(part, part.candidates.scores)
        .filter(pl.col("label") > 0)
        .select(pl.col(keys).cast(pl.String))
        for part in (choosing, reported)
        if part.candidates.labels is not None
    ]
    return targets[0].join(targets[1], on=keys, how="semi").height if len(targets) == 2 else 0


def metric_names(
    plan: MitigationOptions, tables: TableOptions, predictions: Any, validation: Any
) -> list[str]:
    """All metrics to report: those asked for, the target, and NDCG where relevance is known."""
    k = plan.target.k or DEFAULT_K
    given = [predictions, *([] if validation is None else [validation])]
    is_recommended = tables.test is not None
    has_labels = is_recommended or all(
        tables.relevant is not None or Table(table, "predictions", tables.columns).find("label")
        for table in given
    )
    if tables.metrics is None:
        names = [plan.target.name]
        names += ["auc"] if has_labels and not is_recommended else []
        names += [f"mrr@{k}"] if has_labels else []
        names += [f"urd@{k}"] if tables.items is not None else []
        names += [f"urp@{k}", f"urp_abs@{k}"] if tables.history is not None else []
    else:
        names = [*tables.metrics, plan.target.name]
    return [*names, cost_name(plan)] if has_labels else names


def cost_name(plan: MitigationOptions) -> str:
    """The accuracy that a strength must not cost."""
    return f"ndcg@{plan.target.k or DEFAULT_K}"


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
