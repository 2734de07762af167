"""Tables -> what an audit works on, with all that the metrics asked for need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairrec.core.errors import InputError, listed, plain, unknown_name
from fairrec.core.options import Blank, spell
from fairrec.inputs.audit_inputs import AuditInputs, open_tables, read_tables
from fairrec.inputs.columns import suggest_threshold
from fairrec.inputs.held_out import check_joined
from fairrec.inputs.memory_estimate import refuse_large
from fairrec.inputs.notes import Note, over_parts
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.user_lists import value_columns
from fairrec.metrics.covariates import given_circumstances, refuse_covariates
from fairrec.metrics.parsing import MetricAtK, parse_metric
from fairrec.metrics.registry import TABLE_OF_NEED
from fairrec.metrics.value_columns import find_metric, metric_of_column

_BY_DEFAULT = {
    "labels": ("auc", "mrr", "ndcg"),
    "items": ("urd",),
    "history": ("urp",),
    "against_lists": ("changed", "rbo"),
}
"""What is there -> the metrics it allows."""
_OF_RECOMMENDATIONS = ("recall", "ndcg", "mrr")
"""The same where held-out interactions are there."""
_AS_DEEP_AS_LISTS = {"test": _OF_RECOMMENDATIONS, "against_lists": _BY_DEFAULT["against_lists"]}
"""Table -> metrics that it allows, at the length of the lists up to `DEEPEST`."""
DEEPEST = 10
_COUNTING = ("auc", "pooled_auc", "mrr", "hit", "recall", "precision", "map")
"""Metrics to which an item is relevant or not, whatever its label above 0."""


def read_inputs(
    predictions: Any = None,
    given: TableOptions | None = None,
    *,
    has_scores: bool = True,
    wants: Collection[str] = (),
    reserved: Collection[str] = (),
    max_memory: int | None = None,
    to_come: Collection[str] = (),
    **tables: Any,
) -> tuple[AuditInputs, tuple[MetricAtK, ...]]:
    """Read and check all tables; also the metrics asked for, or those that the tables allow.

    Parameters
    ----------
    given : the other tables and what is made of them, or by name in `tables`
    has_scores : whether the scores are in the table; otherwise a model will give them
    wants : side data to read where its table is given, whether or not a metric needs it
    reserved : names that no attribute can have, beside those of the metrics
    max_memory : bytes that may be used; None for half of what there is
    to_come : what metrics need that is in no table and will be made: "against_lists"
    tables : as in TableOptions
    """
    given = TableOptions(**tables) if given is None else given
    opened = open_tables(predictions, given)
    refuse_large(opened, max_memory, len(given.by))
    columns: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    if "values" in opened:
        columns, left_out = _columns_of(opened["values"], given)
        better = given.better or {}
        wanted = tuple(metric_of_column(name, better, "the values") for name in columns)
    else:
        wanted = wanted_metrics(given, opened, to_come)
    refuse_covariates(given, opened, wanted)
    inputs = read_tables(
        opened,
        given,
        needs={need for metric in wanted for need in metric.metric.needs} - {*to_come},
        wants=wants,
        reserved={*reserved, *_names_taken(wanted, given)},
        has_scores=has_scores,
        values=columns,
        item_columns=[metric.of for metric in wanted if metric.of],
    )
    if columns:
        inputs = _with_ends_explained(inputs, wanted)
    if left_out:
        inputs = _with_left_out_named(inputs, left_out)
    if given.metrics is None and "values" not in opened:
        wanted = _fitting(wanted, inputs)
    if "test" in opened:
        longest = int(np.diff(inputs.candidates.offsets).max(initial=0))
        cuts = tuple((metric.name, metric.k) for metric in wanted if metric.k)
        note = ShortListsNote(opened["predictions"].where, cuts, longest)
        inputs = replace(inputs, notes=(*inputs.notes, note))
    if inputs.candidates.held_out is not None and has_scores:
        inputs = _with_hits_checked(inputs, wanted)
    inputs = replace(inputs, circumstances=given_circumstances(inputs, wanted))
    if given.relevant is None and "predictions" in opened:
        inputs = _with_labels_explained(inputs, wanted)
    return inputs, wanted


def _names_taken(wanted: Sequence[MetricAtK], given: TableOptions) -> set[str]:
    """The names that metrics may have in the result."""
    names = {metric.name for metric in wanted}
    if given.metrics is None:
        deep = _as_deep_as_lists({"test": given.test, "against_lists": given.against_lists})
        names |= {f"{name}@{k}" for name in deep for k in range(1, DEEPEST + 1)}
    return names


def _as_deep_as_lists(tables: Mapping[str, Any]) -> set[str]:
    """The default metrics that look at whole lists, with these tables."""
    return {
        name
        for table, names in _AS_DEEP_AS_LISTS.items()
        if tables.get(table) is not None
        for name in names
    }


def wanted_metrics(
    given: TableOptions, tables: Mapping[str, Table], to_come: Collection[str] = ()
) -> tuple[MetricAtK, ...]:
    """The metrics named, each once; by default those that the tables allow."""
    beside = ("items", "history", "against_lists")
    allowed = {name for name in beside if name in tables or name in to_come}
    if "test" in tables:
        allowed.add("labels")
    if given.metrics is None:
        predictions = tables["predictions"]
        if predictions.find("label") or given.relevant is not None:
            allowed.add("labels")
        by_default = dict(_BY_DEFAULT)
        if "test" in tables:
            by_default["labels"] = tuple(f"{name}@{DEEPEST}" for name in _OF_RECOMMENDATIONS)
        names = [name for need, all_ in by_default.items() if need in allowed for name in all_]
        if not names:
            raise InputError(
                f"{predictions.where}: without a label column there is no metric of accuracy. For "
                "recommendations, give the held-out interactions: "
                f"{spell('test', Blank('FILE'))}. For scored candidates, add a label column (1 "
                "for relevant, 0 for not) or map it: "
                f"{spell('columns', {'label': Blank('NAME')})}. Or name a metric that needs "
                f"none, and give its table: {spell('metrics', ['urd@5'])} with "
                f"{spell('items', Blank('FILE'))}, {spell('metrics', ['urp@5'])} with "
                f"{spell('history', Blank('FILE'))}."
            )
    else:
        names = [*given.metrics]
    wanted = tuple({metric.name: metric for metric in map(parse_metric, names)}.values())
    for metric in wanted:
        _refuse_unmet(metric, allowed, is_recommended="test" in tables)
    return tuple(with_ends(wanted, given.better or {}))


def with_ends(wanted: Sequence[MetricAtK], better: Mapping[str, bool]) -> Iterator[MetricAtK]:
    """The same, with the better end of those that have none unless it is said."""
    for name in better:
        named = next((metric for metric in wanted if metric.name == name), None)
        if named is None:
            known = [metric.name for metric in wanted]
            raise InputError(f"{spell('better')}: {unknown_name('metric', name, known)}")
        if named.metric.higher_is_better is not None:
            end = "higher" if named.metric.higher_is_better else "lower"
            raise InputError(
                f"{spell('better')}: of {plain(name)} the {end} end is the better one. Leave it "
                "out."
            )
    ends = {metric.name: metric.metric.higher_is_better for metric in wanted} | {**better}
    for metric in wanted:
        yield replace(metric, metric=replace(metric.metric, higher_is_better=ends[metric.name]))


def _refuse_unmet(metric: MetricAtK, allowed: Collection[str], is_recommended: bool) -> None:
    """An error for a metric that these tables cannot give."""
    needs = metric.metric.needs
    for need, table in TABLE_OF_NEED.items():
        if need in needs and table not in allowed:
            raise InputError(
                f"Metric '{plain(metric.name)}' needs the {table} table. "
                f"Give {spell(table, Blank('FILE'))} or leave the metric out."
            )
    if "candidates" in needs and is_recommended:
        raise InputError(
            f"Metric '{metric.name}' compares the relevant candidates with all others, and "
            "recommendations hold only the first places of them, so it is not defined here. From "
            f"{spell('test')}: recall, ndcg, map, precision, hit, mrr, coverage. For "
            f"'{metric.name}', give all scored candidates with labels, without {spell('test')}."
        )


def _columns_of(table: Table, given: TableOptions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of values to audit, and those left out because they hold no numbers."""
    named = (*given.by, *given.adjust_for)
    attributes = {name for text in named for name in (text, text.rpartition(":")[0])}
    columns, left_out = value_columns(table, given.metrics, attributes, given.better or {})
    for name in given.better or {}:
        if name not in columns:
            raise InputError(f"{spell('better')}: {unknown_name('column', name, columns)}")
    return columns, left_out


def _with_left_out_named(inputs: AuditInputs, columns: tuple[str, ...]) -> AuditInputs:
    """The same with a note about columns that could have been meant as values."""
    is_one = len(columns) == 1
    which = "a column holds" if is_one else f"{len(columns):,} columns hold"
    note = (
        f"{inputs.tables['values'].where}: {which} no numbers and {'is' if is_one else 'are'} left "
        f"out: {listed(columns)}"
    )
    return replace(inputs, notes=(*inputs.notes, note))


def _with_ends_explained(inputs: AuditInputs, wanted: tuple[MetricAtK, ...]) -> AuditInputs:
    """The same with a note about columns of which neither end is better."""
    names = [metric.name for metric in wanted if metric.metric.higher_is_better is None]
    # what is known to have no better end needs no advice
    unsaid = [plain(name) for name in names if find_metric(name) is None]
    if not unsaid:
        return inputs
    ends = {unsaid[0]: Blank("higher")}
    note = (
        f"neither end of {', '.join(unsaid)} is taken as better: groups may differ in it, and "
        f"none is called worse. To say which end is better: {spell('better', ends)} or lower"
    )
    return replace(inputs, notes=(*inputs.notes, note))


def _fitting(wanted: tuple[MetricAtK, ...], inputs: AuditInputs) -> tuple[MetricAtK, ...]:
    """The default metrics no deeper than the lists."""
    piece = inputs.tables["predictions"].row_slice
    longest = np.diff(inputs.candidates.offsets).max(initial=0)
    if piece is not None and piece.longest is not None:
        longest = piece.longest  # all parts have the same metrics
    k = int(min(DEEPEST, max(longest, 1)))
    deep = _as_deep_as_lists(inputs.tables)
    return tuple(
        replace(metric, k=k) if metric.metric.name in deep else metric for metric in wanted
    )


@dataclass(frozen=True)
class ShortListsNote(Note):
    """Recommendations end before the cut-off of a metric.

    Parameters
    ----------
    cuts : metrics with their cut-offs
    """

    where: str
    cuts: tuple[tuple[str, int], ...]
    longest: int = over_parts(max)

    def __str__(self) -> str:
        deeper = [plain(name) for name, k in self.cuts if k > self.longest]
        if not deeper or not self.longest:
            return ""
        looks = "looks" if len(deeper) == 1 else "look"
        return (
            f"no list in {self.where} has more than {self.longest:,} items, so {', '.join(deeper)} "
            f"{looks} at the first {self.longest:,} alone"
        )


@dataclass(frozen=True)
class LabelsNote(Note):
    """What labels mean that are not 0 and 1.

    Parameters
    ----------
    least : of those above 0
    """

    where: str
    column: str
    low: float = over_parts(min)
    high: float = over_parts(max)
    least: float = over_parts(min)

    def __str__(self) -> str:
        if self.low > 0:
            return (
                f"{self.where}: every candidate is relevant, so no list can miss anything. If only "
                "the hits were kept, give the recommendations as they were, and the held-out "
                f"interactions: {spell('test', Blank('FILE'))}"
            )
        if self.least < self.high or self.low < min(0, self.high):
            return (
                f"'{self.column}' runs from {self.low:g} to {self.high:g}: ndcg weighs by it, and "
                "metrics that count relevant items count every candidate above 0. To count some "
                f"alone, all alike: {suggest_threshold(self.column, self.low, self.high)}"
            )
        return ""


def _with_hits_checked(inputs: AuditInputs, wanted: tuple[MetricAtK, ...]) -> AuditInputs:
    """The same with what was seen of held-out items that no list misses."""
    counting = [metric.k or np.inf for metric in wanted if "labels" in metric.metric.needs]
    lists = inputs.candidates
    if not counting or lists.held_out is None or lists.labels is None:
        return inputs
    n_relevant = lists.held_out.n_relevant
    n_missed = int(n_relevant.sum()) - int(np.count_nonzero(lists.labels)) + len(inputs.absent)
    note = check_joined(
        inputs.tables,
        np.diff(lists.offsets),
        n_relevant,
        lists.held_out.has_rows,
        n_missed,
        len(lists.item_ids),
        max(counting),
    )
    return replace(inputs, notes=(*inputs.notes, note))


def _with_labels_explained(inputs: AuditInputs, wanted: tuple[MetricAtK, ...]) -> AuditInputs:
    """The same with a note where labels are grades; an error where they look like ratings."""
    labels, table = inputs.candidates.labels, inputs.tables["predictions"]
    counting = [metric.name for metric in wanted if metric.metric.name in _COUNTING]
    if inputs.candidates.held_out is not None or labels is None or not (len(labels) and counting):
        return inputs
    low, high = float(labels.min()), float(labels.max())
    column = plain(table.find("label") or "label")
    if low <= 0:
        table.clear("labels")
    if 0 < low < high:
        table.defer_refusal(
            "labels",
            f"{table.where}: '{column}' runs from {low:g} to {high:g} and is never 0, so every "
            f"candidate would be relevant for {counting[0]}; these look like ratings. Say from "
            f"which one on: {suggest_threshold(column, low, high)}. Or ask for ndcg alone, which "
            "weighs by them.",
        )
    least = float(labels.min(where=labels > 0, initial=np.inf))
    note = LabelsNote(table.where, column, low, high, least)
    return replace(inputs, notes=(*inputs.notes, note))
