"""Tables -> what an audit works on, with all that the metrics asked for need."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from fairrec.core.errors import InputError
from fairrec.core.options import Blank, spelled
from fairrec.inputs.audit_inputs import AuditInputs, open_tables, read_tables
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.metrics.registry import MetricAtK, parse_metric

_BY_DEFAULT = {"labels": ("auc", "mrr", "ndcg"), "items": ("urd",), "history": ("urp",)}
"""What is there -> the metrics it allows."""


def read_inputs(
    predictions: Any,
    *,
    users: Any,
    by: Sequence[str] | str,
    items: Any = None,
    history: Any = None,
    metrics: Sequence[str] | str | None = None,
    columns: Mapping[str, str] | str | None = None,
    has_scores: bool = True,
    wants: Collection[str] = (),
    reserved: Collection[str] = (),
) -> tuple[AuditInputs, tuple[MetricAtK, ...]]:
    """Read and check all tables; also the metrics asked for, or those that the tables allow.

    Parameters
    ----------
    has_scores : whether the scores are in the table; otherwise a model will give them
    wants : side data to read where its table is given, whether or not a metric needs it
    reserved : names that no attribute can have, beside those of the metrics
    """
    given = TableOptions.of(
        users=users, items=items, history=history, columns=columns, by=by, metrics=metrics
    )
    tables = open_tables(predictions, given)
    wanted = wanted_metrics(given.metrics, tables)
    inputs = read_tables(
        tables,
        given.by,
        needs={need for metric in wanted for need in metric.metric.needs},
        wants=wants,
        reserved={*reserved, *(metric.name for metric in wanted)},
        has_scores=has_scores,
    )
    return inputs, wanted


def wanted_metrics(
    metrics: Sequence[str] | None, tables: Mapping[str, Table]
) -> tuple[MetricAtK, ...]:
    """The metrics named, each once; by default those that the tables allow."""
    given = {name for name in ("items", "history") if name in tables}
    if metrics is None:
        if tables["predictions"].find("label"):
            given.add("labels")
        names = [name for need, allowed in _BY_DEFAULT.items() if need in given for name in allowed]
        if not names:
            raise InputError(
                f"{tables['predictions'].where}: without a label column there is no metric of "
                f"accuracy, and without {spelled('items')} or {spelled('history')} no other one. "
                "Add a label column (1 for relevant, 0 for not) or map it: "
                f"{spelled('columns', {'label': Blank('NAME')})}; or give "
                f"{spelled('items', Blank('FILE'))} or {spelled('history', Blank('FILE'))}."
            )
    else:
        names = [*metrics]
        if not names:
            example = spelled("metrics", ["auc", "ndcg@5"])
            raise InputError(f"No metric is named. Example: {example}")
    wanted = tuple({metric.name: metric for metric in map(parse_metric, names)}.values())
    for metric in wanted:
        for need in ("items", "history"):
            if need in metric.metric.needs and need not in given:
                raise InputError(
                    f"Metric '{metric.name}' needs the {need} table. "
                    f"Give {spelled(need, Blank('FILE'))} or leave the metric out."
                )
    return wanted
