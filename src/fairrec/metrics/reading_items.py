"""Tables -> what an audit of items works on: one value for each of them, in the place of users."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.core.options import Blank, spell
from fairrec.inputs.audit_inputs import AuditInputs, refuse_clash, refuse_same_file
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.catalogue import Catalogue, ExposureLog, read_catalogue, read_exposure_log
from fairrec.inputs.columns import check_mapping, refuse_unused
from fairrec.inputs.held_out import check_joined
from fairrec.inputs.memory_estimate import refuse_large
from fairrec.inputs.side_data import SideData
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.metrics.item_exposure import Share
from fairrec.metrics.measured import Ratio
from fairrec.metrics.parsing import MetricAtK, parse_metric
from fairrec.metrics.reading import DEEPEST, with_ends
from fairrec.metrics.value_columns import values_named


class ItemsRead(NamedTuple):
    """What an audit of items works on.

    Parameters
    ----------
    inputs : the items, or units of them, in the place of users
    wanted : metrics that look their values up there
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

    @property
    def n_adding_nothing(self) -> dict[str, int]:
        """Units that are due nothing and get nothing, of each metric that is a ratio of sums."""
        return {
            metric.name: int((~((above > 0) | (below > 0))).sum())
            for metric, share in zip(self.wanted, self.shares, strict=True)
            if not share.is_mean
            for above, below in [share.parts(self.shown.catalogue)]
        }


def read_items(
    predictions: Any,
    given: TableOptions,
    *,
    reserved: Collection[str] = (),
    max_memory: int | None = None,
    threads: int = 1,
) -> ItemsRead:
    """Read and check all tables; also the metrics asked for, or those that the tables allow."""
    tables = _open(predictions, given)
    refuse_large(tables, max_memory)
    catalogue = read_catalogue(tables["items"], given.by, given.unit)
    names = [spec.name for spec in catalogue.units.specs]
    refuse_clash(names, {"user_id", "item_id", *reserved}, "items")
    shown = read_exposure_log(tables, given, catalogue, threads)
    wanted = _wanted(given, shown, tables)
    refuse_clash([*names, given.unit or ""], {metric.name for metric in wanted}, "items")
    shares = tuple(metric.compute(shown) for metric in wanted)
    values = {
        metric.name: metric.checked(share.values(catalogue), catalogue.n_units)
        for metric, share in zip(wanted, shares, strict=True)
    }
    if shown.wanted is not None:
        shown = _with_hits_checked(shown, wanted, tables)
    inputs = _as_users(catalogue, values, shown, given, tables)
    return ItemsRead(inputs, tuple(map(_looked_up, wanted)), shares, shown)


def _open(predictions: Any, given: TableOptions) -> dict[str, Table]:
    """The tables that are given, by name; an error for what items cannot be compared by."""
    columns = given.columns or {}
    check_mapping(columns)
    given.refuse_gain()
    if given.values is not None:
        raise InputError(
            f"{spell('values')} are numbers of users, and items are shown in lists. Give these, "
            f"or leave out {spell('side', 'items')}."
        )
    if given.users is not None:
        raise InputError(
            f"{spell('side', 'items')} compares items by columns of the items table, whoever the "
            f"users are. Leave out {spell('users')}."
        )
    if given.adjust_for:
        raise InputError(
            f"{spell('adjust_for')} is about covariates of users. Leave it out for items, or name "
            f"a column of the items in {spell('by')}."
        )
    if given.against_lists is not None:
        raise InputError(
            f"{spell('against_lists')} compares two lists of one user. Leave it out for items: "
            "audit both lists by themselves, and compare the results."
        )
    if given.missing_lists == "drop":
        raise InputError(
            f"{spell('missing_lists', 'drop')} is about users. Leave it out for items: who has "
            "no list shows them none."
        )
    if predictions is None:
        raise InputError("The predictions table is missing. Give a path or a table.")
    if given.items is None:
        raise InputError(
            f"{spell('side', 'items')} compares items by their attributes. Give them: "
            f"{spell('items', Blank('FILE'))}"
        )
    sources = {
        "predictions": predictions,
        "test": given.test,
        "items": given.items,
        "history": given.history,
    }
    tables = {
        name: Table.open(source, name, columns)
        for name, source in sources.items()
        if source is not None
    }
    refuse_unused(columns, {name: table.columns for name, table in tables.items()})
    refuse_same_file(tables)
    return tables


def _wanted(
    given: TableOptions, shown: ExposureLog, tables: Mapping[str, Table]
) -> tuple[MetricAtK, ...]:
    """The metrics named, each once; by default what the tables allow, no deeper than lists."""
    if given.metrics is None:
        longest = int(np.diff(shown.candidates.offsets).max(initial=0))
        names = ["exposure", *(["exposure_to_relevance"] if shown.has_relevance else [])]
        asked: Sequence[str] = [f"{name}@{min(DEEPEST, max(longest, 1))}" for name in names]
    else:
        asked = given.metrics
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


def _with_hits_checked(
    shown: ExposureLog, wanted: Sequence[MetricAtK], tables: Mapping[str, Table]
) -> ExposureLog:
    """The same with what was seen of held-out items that no list misses."""
    counting = [metric.k or np.inf for metric in wanted if "labels" in metric.metric.needs]
    if not counting or shown.wanted is None:
        return shown
    note = check_joined(
        tables,
        np.diff(shown.candidates.offsets),
        np.diff(shown.wanted.rows.offsets),
        np.diff(shown.wanted.rows.offsets) > 0,
        shown.n_missed,
        len(shown.catalogue.item_keys),
        max(counting),
    )
    return replace(shown, notes=(*shown.notes, note))


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
    nothing = CandidateLists(
        np.zeros(n_units + 1, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
        np.zeros(0),
        None,
        pl.Series([], dtype=pl.Int64),
    )
    nobody = np.zeros(0, dtype=np.int64)
    return AuditInputs(
        user_ids=catalogue.units.ids,
        attributes=catalogue.units.attributes(everyone),
        candidates=nothing,
        list_of_user=everyone,
        side=SideData(values=values),
        rows=everyone,
        is_expected=np.ones(n_units, dtype=bool),
        absent=nobody,
        unseen=nobody,
        all_users=catalogue.units,
        given=given,
        tables=tables,
        notes=shown.notes,
        unit=catalogue.unit,
    )


def _looked_up(metric: MetricAtK) -> MetricAtK:
    """The same, whose values are read from where they were put."""
    return replace(metric, metric=replace(metric.metric, compute=values_named(metric.name)))
