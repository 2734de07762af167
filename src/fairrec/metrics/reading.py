"""Tables -> what an audit of users or of items works on, with all that its metrics need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fairrec.core.errors import InputError, listed, plain, unknown_name
from fairrec.core.options import Blank, spell
from fairrec.inputs.audit_inputs import (
    AuditInputs,
    empty_lists,
    open_sources,
    open_tables,
    read_tables,
    refuse_clash,
    value_columns,
)
from fairrec.inputs.catalogue import Catalogue, ExposureLog, read_catalogue, read_exposure_log
from fairrec.inputs.columns import suggest_threshold
from fairrec.inputs.held_out import refuse_joined
from fairrec.inputs.notes import N, Note
from fairrec.inputs.partition import refuse_large
from fairrec.inputs.side_data import SideData
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.metrics.covariates import read_covariates, refuse_covariates
from fairrec.metrics.item_exposure import Share
from fairrec.metrics.measured import Ratio
from fairrec.metrics.parsing import MetricAtK, parse_metric
from fairrec.metrics.registry import TABLE_OF_NEED
from fairrec.metrics.value_columns import find_metric, metric_of_column, values_named

_BY_DEFAULT = {
    "labels": ("auc", "mrr", "ndcg"),
    "items": ("urd",),
    "history": ("urp",),
    "against_lists": ("changed", "rbo"),
}
"""Available data -> the metrics that it allows."""
_OF_RECOMMENDATIONS = ("recall", "ndcg", "mrr")
"""The metrics of labels where held-out interactions are given."""
DEEPEST = 10
_COUNTING = ("auc", "mrr", "hit", "recall", "precision", "map")
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
    refuse_large(opened, max_memory)
    notes: list[Note | str] = []
    if "values" in opened:
        wanted = _metrics_of_columns(opened["values"], given, notes)
    else:
        wanted = wanted_metrics(given, opened, to_come)
    columns = tuple(metric.name for metric in wanted) if "values" in opened else ()
    refuse_covariates(given, opened, wanted)
    inputs = read_tables(
        opened,
        given,
        needs={need for metric in wanted for need in metric.metric.needs} - {*to_come},
        wants=wants,
        reserved={*reserved, *(metric.name for metric in wanted)},
        has_scores=has_scores,
        values=columns,
        item_columns=[metric.of for metric in wanted if metric.of],
    )
    if given.metrics is None and not columns:
        wanted = _fitting(wanted, inputs)
    lists = inputs.candidates
    if "test" in opened:
        longest = int(np.diff(lists.offsets).max(initial=0))
        for k in sorted({metric.k for metric in wanted if metric.k}):
            names = ", ".join(metric.name for metric in wanted if metric.k == k)
            short = (
                f"no list in {opened['predictions'].where} has more than {N} items, fewer than "
                f"the cut-off of {names}"
            )
            notes.append(Note(short, (longest,), max, partial(_are_short, k)))
    if lists.held_out is not None and lists.labels is not None and has_scores:
        n_relevant = lists.held_out.n_relevant
        n_missed = int(n_relevant.sum()) - int(np.count_nonzero(lists.labels)) + len(inputs.absent)
        seen = np.diff(lists.offsets), n_relevant, n_missed, len(lists.item_ids)
        _refuse_joined(wanted, inputs.tables, *seen)
    if given.relevant is None and "predictions" in opened:
        notes += _note_labels(inputs, wanted)
    inputs = replace(inputs, covariates=read_covariates(inputs, wanted))
    return replace(inputs, notes=(*inputs.notes, *notes)), wanted


def _metrics_of_columns(
    table: Table, given: TableOptions, notes: list[Note | str]
) -> tuple[MetricAtK, ...]:
    """The columns of a table of values as metrics, with notes about them."""
    better, named = given.better or {}, (*given.by, *given.adjust_for)
    attributes = {name for text in named for name in (text, text.rpartition(":")[0])}
    columns, left_out = value_columns(table, given.metrics, attributes, better)
    for name in better:
        if name not in columns:
            raise InputError(f"{spell('better')}: {unknown_name('column', name, columns)}")
    if left_out:
        notes.append(f"{table.where}: columns without numbers are left out: {listed(left_out)}")
    wanted = tuple(metric_of_column(name, better, "the values") for name in columns)
    endless = [one.name for one in wanted if one.metric.higher_is_better is None]
    # a known metric such as urp has no better end
    if unsaid := [plain(name) for name in endless if find_metric(name) is None]:
        notes.append(
            f"direction of {listed(unsaid)} unknown, so no group is called worse. Set it: "
            f"{spell('better', {unsaid[0]: Blank('higher')})} or lower"
        )
    return wanted


def wanted_metrics(
    given: TableOptions, tables: Mapping[str, Table], to_come: Collection[str] = ()
) -> tuple[MetricAtK, ...]:
    """The metrics named, each once; by default those that the tables allow."""
    predictions, has_test = tables["predictions"], "test" in tables
    available = {*tables, *to_come}
    if has_test or predictions.find("label") or given.relevant is not None:
        available.add("labels")
    names = given.metrics
    if names is None:
        by_default = dict(_BY_DEFAULT)
        if has_test:
            by_default["labels"] = tuple(f"{name}@{DEEPEST}" for name in _OF_RECOMMENDATIONS)
        names = tuple(name for need in by_default if need in available for name in by_default[need])
    if not names:
        raise InputError(
            f"{predictions.where}: without a label column there is no metric of accuracy. For "
            f"recommendations, give the held-out interactions: {spell('test', Blank('FILE'))}. For "
            "scored candidates, add a label column (1 for relevant, 0 for not) or map it: "
            f"{spell('columns', {'label': Blank('NAME')})}."
        )
    wanted = tuple({metric.name: metric for metric in map(parse_metric, names)}.values())
    for metric in wanted:
        for need, table in TABLE_OF_NEED.items():
            if need in metric.metric.needs and table not in available:
                raise InputError(
                    f"Metric '{plain(metric.name)}' needs the {table} table. "
                    f"Give {spell(table, Blank('FILE'))} or leave the metric out."
                )
        if "candidates" in metric.metric.needs and has_test:
            raise InputError(
                f"Metric '{metric.name}' compares the relevant candidates with all others, and "
                "recommendations hold only the first of them. Ask for recall, ndcg or mrr; or give "
                f"all scored candidates with labels, without {spell('test')}."
            )
    return tuple(with_ends(wanted, given.better or {}))


def with_ends(wanted: Sequence[MetricAtK], better: Mapping[str, bool]) -> Iterator[MetricAtK]:
    """The same metrics, with a better end for those that have none by themselves."""
    ends = {metric.name: metric.metric.higher_is_better for metric in wanted}
    for name in better:
        if name not in ends:
            raise InputError(f"{spell('better')}: {unknown_name('metric', name, ends)}")
        if ends[name] is not None:
            end = "higher" if ends[name] else "lower"
            raise InputError(
                f"{spell('better')}: of {plain(name)} the {end} end is the better one. Leave it "
                "out."
            )
    for metric in wanted:
        end_of = {**ends, **better}[metric.name]
        yield replace(metric, metric=replace(metric.metric, higher_is_better=end_of))


def _refuse_joined(wanted: Sequence[MetricAtK], tables: Mapping[str, Table], *seen: Any) -> None:
    """An error where lists hold all held-out items; see `refuse_joined`."""
    counting = [metric.k or np.inf for metric in wanted if "labels" in metric.metric.needs]
    if counting:
        refuse_joined(tables, max(counting), *seen)


def _fitting(wanted: tuple[MetricAtK, ...], inputs: AuditInputs) -> tuple[MetricAtK, ...]:
    """The default metrics no deeper than the lists."""
    longest = np.diff(inputs.candidates.offsets).max(initial=0)
    k = int(min(DEEPEST, max(longest, 1)))
    deep = {*_OF_RECOMMENDATIONS} if "test" in inputs.tables else set()
    deep |= {*_BY_DEFAULT["against_lists"]} if "against_lists" in inputs.tables else set()
    return tuple(
        replace(metric, k=k) if metric.metric.name in deep else metric for metric in wanted
    )


def _note_labels(inputs: AuditInputs, wanted: tuple[MetricAtK, ...]) -> Iterator[Note]:
    """A note where labels are grades; an error where they look like ratings."""
    labels, table = inputs.candidates.labels, inputs.tables["predictions"]
    counting = [metric.name for metric in wanted if metric.metric.name in _COUNTING]
    if inputs.candidates.held_out is not None or labels is None or not (len(labels) and counting):
        return
    low, high = float(labels.min()), float(labels.max())
    column = plain(table.find("label") or "label")
    if low <= 0 or low < high:  # in a part, equal labels say nothing of the others
        table.expect(
            "labels",
            low <= 0,
            f"{table.where}: '{column}' runs from {low:g} to {high:g} and is never 0, so every "
            f"candidate would be relevant for {counting[0]}; these look like ratings. Give a "
            f"threshold: {suggest_threshold(column, low, high)}. Or ask for ndcg alone, which "
            "weighs by them.",
        )
    all_relevant = (
        f"{table.where}: every candidate is relevant, so no list can miss anything. If only the "
        "hits were kept, give the recommendations as they were, and the held-out interactions: "
        f"{spell('test', Blank('FILE'))}"
    )
    yield Note(all_relevant, (low,), min)
    graded = (
        f"'{column}' runs from {N} to {N}: ndcg weighs by it, and metrics that count relevant "
        "items count every candidate above 0. To count only some, all alike: "
        f"{spell('relevant', f'{column}>=NUMBER')}"
    )
    least = float(labels.min(where=labels > 0, initial=np.inf))
    yield Note(graded, (low, high, least), (min, max, min), _are_grades)


def _are_short(k: int, longest: int) -> bool:
    return 0 < longest < k


def _are_grades(low: float, high: float, least: float) -> bool:
    return low <= 0 and (least < high or low < min(0, high))


class ItemsRead(NamedTuple):
    """What an audit of items works on: items, or units of them, in the place of users.

    Parameters
    ----------
    wanted : metrics that look their values up in the inputs
    shares : what each metric's values are made of
    """

    inputs: AuditInputs
    wanted: tuple[MetricAtK, ...]
    shares: tuple[Share, ...]
    shown: ExposureLog

    @property
    def ratio(self) -> Ratio:
        """What values are ratios of."""
        parts = [share.parts(self.shown.catalogue) for share in self.shares]
        above, below = (np.array(part) for part in zip(*parts, strict=True))
        # a mean needs a value of everyone; to a ratio of sums some add nothing
        is_sum = np.array([not share.is_mean for share in self.shares])[:, None]
        return Ratio.of(above, below, is_sum | (below > 0))


def read_items(
    predictions: Any,
    given: TableOptions,
    *,
    reserved: Collection[str] = (),
    max_memory: int | None = None,
    threads: int = 1,
) -> ItemsRead:
    """Read and check all tables; also the metrics asked for, or those that the tables allow."""
    tables = _open_for_items(predictions, given)
    refuse_large(tables, max_memory)
    catalogue = read_catalogue(tables["items"], given.by, given.unit)
    names = [spec.name for spec in catalogue.units.specs]
    refuse_clash(names, {"user_id", "item_id", *reserved}, "items")
    shown = read_exposure_log(tables, given, catalogue, threads)
    wanted = _wanted_of_items(given, shown, tables)
    refuse_clash([*names, given.unit or ""], {metric.name for metric in wanted}, "items")
    shares = tuple(metric.compute(shown) for metric in wanted)
    values = {
        metric.name: metric.checked(share.values(catalogue), catalogue.n_units)
        for metric, share in zip(wanted, shares, strict=True)
    }
    if shown.held_out is not None:
        n_wanted = np.diff(shown.held_out.rows.offsets)
        lengths = np.diff(shown.candidates.offsets)
        seen = lengths, n_wanted, shown.n_missed, len(catalogue.item_keys)
        _refuse_joined(wanted, tables, *seen)
    inputs = _as_users(catalogue, values, shown, given, tables)
    # metrics whose values are read from where they were put
    looked_up = tuple(
        replace(one, metric=replace(one.metric, compute=values_named(one.name))) for one in wanted
    )
    return ItemsRead(inputs, looked_up, shares, shown)


def _open_for_items(predictions: Any, given: TableOptions) -> dict[str, Table]:
    """The tables that are given, by name; an error for what items cannot be compared by."""
    given.refuse_gain()
    of_users = {
        "values": given.values is not None,
        "users": given.users is not None,
        "adjust_for": bool(given.adjust_for),
        "against_lists": given.against_lists is not None,
        "missing_lists": given.missing_lists == "drop",
    }
    for name, is_given in of_users.items():
        if is_given:
            raise InputError(
                f"{spell(name)} is about users, and {spell('side', 'items')} compares items. Leave "
                f"out {spell(name)}."
            )
    if predictions is None or given.items is None:
        missing = "predictions" if predictions is None else "items"
        raise InputError(f"The {missing} table is missing. Give a path or a table.")
    sources = {
        "predictions": predictions,
        "test": given.test,
        "items": given.items,
        "history": given.history,
    }
    return open_sources(sources, given.columns or {})


def _wanted_of_items(
    given: TableOptions, shown: ExposureLog, tables: Mapping[str, Table]
) -> tuple[MetricAtK, ...]:
    """The metrics named, each once; by default what the tables allow, no deeper than lists."""
    longest = int(np.diff(shown.candidates.offsets).max(initial=0))
    names = ["exposure", *(["exposure_to_relevance"] if shown.has_relevance else [])]
    by_default = [f"{name}@{min(DEEPEST, max(longest, 1))}" for name in names]
    asked = by_default if given.metrics is None else given.metrics
    parsed = (parse_metric(name, "items") for name in asked)
    wanted = tuple({metric.name: metric for metric in parsed}.values())
    for metric in wanted:
        if "labels" in metric.metric.needs and not shown.has_relevance:
            raise InputError(
                f"Metric '{plain(metric.name)}' needs to know what users wanted, and "
                f"{tables['predictions'].where} has no labels. Give the held-out interactions, "
                f"{spell('test', Blank('FILE'))}, or leave the metric out."
            )
    return tuple(with_ends(wanted, given.better or {}))


def _as_users(
    catalogue: Catalogue,
    values: Mapping[str, Any],
    shown: ExposureLog,
    given: TableOptions,
    tables: dict[str, Table],
) -> AuditInputs:
    """Empty lists of units that have their values already."""
    n_units = catalogue.n_units
    everyone = np.arange(n_units)
    no_users = np.zeros(0, dtype=np.int64)
    return AuditInputs(
        user_ids=catalogue.units.ids,
        attributes=catalogue.units.attributes(everyone),
        candidates=empty_lists(n_units),
        list_of_user=everyone,
        side=SideData(values=values),
        rows=everyone,
        is_expected=np.ones(n_units, dtype=bool),
        absent=no_users,
        unseen=no_users,
        all_users=catalogue.units,
        given=given,
        tables=tables,
        notes=shown.notes,
        unit=catalogue.unit,
    )
