"""The conductor of a re-ranking: a re-ranker that was tuned before, applied to new lists."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError, errors_of_libraries, plain
from fairrec.groups.group import group_of_users, refuse_empty
from fairrec.inputs.audit_inputs import AuditInputs, open_tables, read_tables
from fairrec.inputs.table_options import TableOptions
from fairrec.mitigation.remedy import Remedy, RerankerRecord, load_reranker
from fairrec.mitigation.reranker import RERANKERS
from fairrec.mitigation.tables import predictions_table


@errors_of_libraries()
def rerank(
    record: str | Path | RerankerRecord,
    predictions: Any,
    *,
    users: Any,
    items: Any = None,
    history: Any = None,
    columns: Mapping[str, str] | str | None = None,
    threads: int | None = None,
) -> pl.DataFrame:
    """New candidate lists with the groups of a re-ranker re-ranked.

    Parameters
    ----------
    record : `reranker.json`, as a mitigation wrote it
    predictions : `user_id, item_id, score`; a label is handed through and not looked at

    Returns
    -------
    the table with new scores, one row per candidate, and `model_score`, the score as it was
    """
    record = record if isinstance(record, RerankerRecord) else load_reranker(record)
    kind = RERANKERS[record.reranker]
    if kind.is_upper_bound:
        raise InputError(
            f"The re-ranker '{record.reranker}' sees the labels, so it is an upper bound and no "
            "remedy: it cannot be applied to new lists."
        )
    given = TableOptions.of(
        users=users, items=items, history=history, columns=columns, by=record.by
    )
    tables = open_tables(predictions, given)
    inputs = read_tables(tables, given, needs=(), wants=("items", "history"))
    _refuse_other_quantiles(record, inputs)
    _, attributes = inputs.everyone()
    if (group_of_users(record.parsed_groups, attributes) < 0).all():
        refuse_empty(record.parsed_groups, attributes, inputs.tables["users"].where)
    remedy = Remedy(record, inputs, AuditOptions(threads=threads).n_threads)
    scores = remedy.scores_of(inputs).at(record.strength)
    return predictions_table(inputs, scores, with_model_score=True)


def _refuse_other_quantiles(record: RerankerRecord, inputs: AuditInputs) -> None:
    """An error where a group's quantile is none of these users, so that nobody could be in it."""
    for attribute in inputs.attributes:
        if not attribute.binning or "quantiles" not in attribute.binning:
            continue
        known = {str(value) for value in attribute.values}
        for group in record.parsed_groups:
            if str(group.as_dict().get(attribute.name, attribute.values[0])) not in known:
                raise InputError(
                    f"Attribute '{plain(attribute.name)}' falls into other quantiles for these "
                    "users than for those of the mitigation. Mitigate with bins of a width "
                    "(age:10), or give the same users."
                )
