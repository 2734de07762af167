"""Tables -> everything an audit works on, with users in the order of their ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError, as_unicode
from fairrec.core.files import file_sum
from fairrec.core.names import names_in
from fairrec.inputs.candidates import CandidateLists, gather_lists, read_candidates
from fairrec.inputs.columns import check_mapping, refuse_unused
from fairrec.inputs.side import SideData, read_categories, read_popularity
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute, Users, read_users
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.result.group_table import RESERVED
from fairrec.result.schema import InputSummary


@dataclass(frozen=True, slots=True)
class AuditInputs:
    """The audited users, their attributes and candidates, and what metrics need.

    Parameters
    ----------
    metrics : all that are asked for, pooled ones too
    user_ids : as they came
    list_of_user : (n_users,), which candidate list is the user's
    n_without_predictions : users of the users table who are not audited
    all_users : the users table
    by : the attributes as they were named, with their binning
    columns : other names of columns
    """

    metrics: tuple[MetricAtK, ...]
    user_ids: pl.Series
    attributes: tuple[Attribute, ...]
    candidates: CandidateLists
    list_of_user: IntArray
    side: SideData
    n_without_predictions: int
    all_users: Users
    by: tuple[str, ...]
    columns: dict[str, str]
    tables: dict[str, Table]

    @property
    def n_users(self) -> int:
        """The number of audited users."""
        return len(self.list_of_user)

    @property
    def per_user_metrics(self) -> tuple[MetricAtK, ...]:
        """Those that are means over users."""
        return tuple(metric for metric in self.metrics if not metric.metric.pooled)

    def everyone(self) -> tuple[pl.Series, tuple[Attribute, ...]]:
        """Ids and attributes of all users of the users table, audited or not.

        Quantiles are those of the audited users, so with such bins only these are given.
        """
        table = self.all_users
        if any(spec.binning and spec.binning.quantiles for spec in table.specs):
            return self.user_ids, self.attributes
        return table.ids, table.attributes(np.arange(len(table.ids)))

    def for_users(self, users: IntArray) -> AuditInputs:
        """The same for some of the users, in rising order."""
        lists = self.list_of_user[users]
        candidates = self.candidates
        scores = gather_lists(candidates.scores, candidates.offsets, lists)
        return replace(
            self,
            user_ids=self.user_ids[users],
            attributes=tuple(replace(a, codes=a.codes[users]) for a in self.attributes),
            candidates=candidates.take(lists, scores),
            list_of_user=np.arange(len(users)),
            side=self.side.for_lists(lists),
        )

    def with_scores(self, scores: FloatArray) -> AuditInputs:
        """The same with other scores of all candidates."""
        return replace(self, candidates=replace(self.candidates, scores=scores))

    def summaries(self) -> dict[str, InputSummary]:
        """The tables with their checksums."""
        return {
            name: InputSummary(
                name=table.where,
                sha256=file_sum(table.path) if table.path else None,
                path=as_unicode(str(table.path)) if table.path else None,
            )
            for name, table in self.tables.items()
        }


def read_inputs(
    predictions: Any,
    *,
    users: Any,
    by: Sequence[str] | str,
    items: Any = None,
    history: Any = None,
    metrics: Sequence[str] | str | None = None,
    columns: Mapping[str, str] | None = None,
    has_scores: bool = True,
    wants: Collection[str] = (),
    may_lack_metrics: bool = False,
) -> AuditInputs:
    """Read and check all tables.

    Parameters
    ----------
    has_scores : whether the scores are in the table; otherwise a scorer will give them
    may_lack_metrics : nothing is to be measured
    wants : side data to read where its table is given, whether or not a metric needs it
    """
    by, wanted = names_in(by), _wanted_metrics(metrics, items, history)
    if not (wanted or may_lack_metrics):
        raise InputError("No metric is named. Example: --metrics auc,ndcg@5")
    check_mapping(columns or {})
    for name, source in (("predictions", predictions), ("users", users)):
        if source is None:
            raise InputError(f"The {name} table is missing. Give a path or a table.")
    sources = {"predictions": predictions, "users": users, "items": items, "history": history}
    tables = {
        name: Table(source, name, columns) for name, source in sources.items() if source is not None
    }
    refuse_unused(columns or {}, {name: table.columns for name, table in tables.items()})
    everyone = read_users(tables["users"], by)
    _refuse_clash([spec.name for spec in everyone.specs], wanted)
    needs: set[str] = {need for metric in wanted for need in metric.metric.needs}
    candidates, row_of_list = read_candidates(
        tables["predictions"], everyone.keys, everyone.where, "labels" in needs, has_scores
    )
    needs |= {need for need in wants if need in tables}
    side = _side_data(tables, needs, candidates, everyone.keys[row_of_list])
    list_of_user = np.argsort(row_of_list)
    rows = row_of_list[list_of_user]
    return AuditInputs(
        metrics=tuple(wanted),
        user_ids=everyone.ids[rows],
        attributes=everyone.attributes(rows),
        candidates=candidates,
        list_of_user=list_of_user,
        side=side,
        n_without_predictions=len(everyone.ids) - len(rows),
        all_users=everyone,
        by=tuple(by),
        columns=dict(columns or {}),
        tables=tables,
    )


def _wanted_metrics(
    metrics: Sequence[str] | str | None, items: Any, history: Any
) -> list[MetricAtK]:
    if metrics is None:
        names = ["auc", "mrr", "ndcg"]
        names += ["urd"] if items is not None else []
        names += ["urp"] if history is not None else []
    else:
        names = names_in(metrics)
    wanted = list({metric.name: metric for metric in map(parse_metric, names)}.values())
    for metric in wanted:
        for need, table in (("items", items), ("history", history)):
            if need in metric.metric.needs and table is None:
                raise InputError(
                    f"Metric '{metric.name}' needs the {need} table. "
                    f"Give --{need} FILE or leave the metric out."
                )
    return wanted


def _refuse_clash(attributes: Sequence[str], metrics: Sequence[MetricAtK]) -> None:
    taken = {*RESERVED, "user_id", *(metric.name for metric in metrics)}
    for name in attributes:
        if name in taken:
            raise InputError(
                f"Attribute '{name}' has the name of a column of the result. "
                "Rename that column of the users table."
            )


def _side_data(
    tables: Mapping[str, Table],
    needs: set[str],
    candidates: CandidateLists,
    user_ids: pl.Series,
) -> SideData:
    """The side data the metrics ask for."""
    categories, popularity, warnings = None, None, []
    if "items" in needs:
        categories, about_items = read_categories(tables["items"], candidates.item_ids)
        warnings += about_items
    if "history" in needs:
        popularity, about_history = read_popularity(
            tables["history"], candidates.item_ids, user_ids
        )
        warnings += about_history
    return SideData(categories, popularity, tuple(warnings))
