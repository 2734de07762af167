"""Covariates of users beside their attributes: how long a list, how many relevant items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import IntArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.options import spell
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.binning import Binning, parse_binning
from fairrec.inputs.side_data import history_lengths
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute, AttributeSpec, encode_attribute, read_users
from fairrec.metrics.measured import deepest
from fairrec.metrics.parsing import MetricAtK
from fairrec.metrics.ranked import RankedLists

HISTORY_LENGTH, LIST_LENGTH, N_RELEVANT = "history_length", "list_length", "n_relevant"
TIED = "tied_at_cutoff"
_NEEDS = {
    LIST_LENGTH: "lists",
    N_RELEVANT: "a label column, or the held-out interactions (test)",
    HISTORY_LENGTH: "the history table",
    TIED: "scores, and a metric with a cut-off",
}
"""Covariates that are counted in the tables, and what they need; others are columns of users."""
FEW = 10
"""The most different numbers that are compared as they are; more are put into fifths."""
FIFTHS = Binning(quantiles=5)


@dataclass(frozen=True, slots=True)
class Covariate:
    """A covariate that is counted.

    Parameters
    ----------
    numbers : (n_users,)
    bins : the same as few values, by which users are compared
    """

    numbers: IntArray
    bins: Attribute

    @property
    def name(self) -> str:
        """As it is given."""
        return self.bins.name


def refuse_covariates(
    given: TableOptions, tables: Mapping[str, Table], wanted: Sequence[MetricAtK]
) -> None:
    """An error for covariates that these tables cannot give, before anything is read."""
    attributes = {_name_and_bins(text, tables["users"])[0] for text in given.by}
    metrics = {metric.name for metric in wanted}
    seen: set[str] = set()
    for text in given.adjust_for:
        name, _ = _name_and_bins(text, tables["users"])
        if name in seen:
            raise InputError(f"'{plain(name)}' is named twice in {spell('adjust_for')}.")
        seen.add(name)
        if name in attributes or name in metrics:
            other = f"in {spell('by')}" if name in attributes else "audited"
            raise InputError(
                f"'{plain(name)}' is {other} and in {spell('adjust_for')}: users who are alike in "
                "it do not differ in it. Leave it out of one of them."
            )
        if tables["users"].attribute_column(name) is None and name not in _NEEDS:
            error = unknown_name("covariate", name, [*_NEEDS, *tables["users"].columns])
            raise InputError(f"{spell('adjust_for')}: {error}{tables['users'].hint}")


def read_covariates(inputs: AuditInputs, wanted: Sequence[MetricAtK]) -> tuple[Attribute, ...]:
    """The covariates in which users are to be alike, in bins, with notes about these."""
    table = inputs.tables["users"]
    found: list[Attribute] = []
    for text in inputs.given.adjust_for:
        name, bins = _name_and_bins(text, table)
        if table.attribute_column(name) is not None:
            everyone = read_users(table, [text])
            specs = tuple(_binned(spec, everyone.columns[spec.name]) for spec in everyone.specs)
            # a column with several values a user is several
            found += replace(everyone, specs=specs).attributes(inputs.rows)
            continue
        counts = _count(name, inputs, wanted)
        if counts is None:
            raise InputError(
                f"{spell('adjust_for', [name])} needs {_NEEDS[name]}. Give them, or a column of "
                "the users table by another name."
            )
        spec = AttributeSpec(name, name, None if bins is None else parse_binning(bins, text))
        numbers = pl.Series(name, counts)
        found.append(encode_attribute(numbers, _binned(spec, numbers), name))
    for at, one in enumerate(found):
        if len(one.values) < 2:
            note = f"{one.name} is the same for all users, so nothing is adjusted for it"
            found[at] = replace(one, warnings=(*one.warnings, note))
    return tuple(found)


def counted_covariates(inputs: AuditInputs, wanted: Sequence[MetricAtK]) -> tuple[Covariate, ...]:
    """All covariates that can be counted in the tables and are not given."""
    if inputs.given.side == "items":
        return ()
    is_given = {covariate.name for covariate in inputs.covariates}
    found = []
    for name in _NEEDS:
        numbers = None if name in is_given else _count(name, inputs, wanted)
        if numbers is None or (name == TIED and numbers.min() == numbers.max()):
            continue
        series = pl.Series(name, numbers)
        bins = encode_attribute(series, _binned(AttributeSpec(name, name), series), name)
        found.append(Covariate(numbers, bins))
    return tuple(found)


def _name_and_bins(text: str, table: Table) -> tuple[str, str | None]:
    """`age:10` is `age` in bins of `10`; a column whose name has a colon is taken as it is."""
    name, colon, bins = text.rpartition(":")
    if not colon or table.attribute_column(text) is not None:
        return text, None
    return name, bins


def _binned(spec: AttributeSpec, values: pl.Series) -> AttributeSpec:
    """In fifths of the users where it has many different numbers and no bins are given."""
    if spec.binning is not None or not values.dtype.is_numeric():
        return spec
    n_values = values.n_unique() - (values.null_count() > 0)
    if n_values <= FEW:
        return spec
    note = (
        f"{spec.name} has {n_values:,} different numbers and is compared in fifths of the users; "
        f"for other bins: {spell('adjust_for', [f'{spec.name}:10'])}"
    )
    return replace(spec, binning=FIFTHS, warnings=(*spec.warnings, note))


def _count(name: str, inputs: AuditInputs, wanted: Sequence[MetricAtK]) -> IntArray | None:
    """(n_users,), a covariate that is counted; None where the tables do not have it."""
    if "values" in inputs.tables:
        return None
    if name == HISTORY_LENGTH:
        history = inputs.tables.get("history")
        keys = inputs.all_users.keys[inputs.rows]
        return None if history is None else history_lengths(history, keys)
    candidates, k = inputs.candidates, deepest(wanted)
    lists = RankedLists(candidates, 0, inputs.side)
    counts: IntArray | None = None
    if name == LIST_LENGTH:
        counts = lists.lengths
    elif name == TIED and len(candidates.scores) and k:
        counts = lists.are_tied(k)[1].astype(np.int64)
    elif name == N_RELEVANT and (candidates.labels is not None or candidates.held_out is not None):
        counts = lists.n_relevant
    return None if counts is None else counts[inputs.list_of_user]
