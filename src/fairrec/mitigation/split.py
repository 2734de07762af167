"""The targets of a mitigation: which are chosen by, and which are held out to report on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.core.options import declared, spelled
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.metrics import MetricAtK
from fairrec.metrics.parsing import DEFAULT_K
from fairrec.metrics.reading import read_inputs
from fairrec.mitigation import effect
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.predictions import predictions_table
from fairrec.result.tables import RESERVED


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
        **{name: getattr(tables, name) for name in declared(TableOptions)},
        "wants": ("items", "history"),
        "reserved": (*RESERVED, *effect.RESERVED),
        "max_memory": max_memory,
    }
    if tables.test is not None and validation is not None:
        raise InputError(
            f"{spelled('validation')} holds candidates with labels, and {spelled('test')} what was "
            f"held out for recommendations: one of them only. Without {spelled('validation')}, "
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
