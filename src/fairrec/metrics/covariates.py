"""Covariates of users beside their attributes: how long a list, how many relevant items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import IntArray
from fairrec.core.errors import InputError, keep_spellings, plain, unknown_name
from fairrec.core.options import Blank, spell
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
COUNTED = (LIST_LENGTH, N_RELEVANT, HISTORY_LENGTH, TIED)
"""Covariates that are counted in the tables; all others are columns of the users table."""
OF_LISTS = (LIST_LENGTH, N_RELEVANT)
"""Those of them of which lists in random order show what they make."""
FEW = 10
"""A number with so many different values is taken as it is, and in fifths where it has more."""
_MANY = 100
"""So many whole numbers may be codes, and each of them a covariate of its own."""
FIFTHS = Binning(quantiles=5)


@dataclass(frozen=True, slots=True)
class Covariate:
    """A covariate that is counted.

    Parameters
    ----------
    numbers : (n_users,)
    bins : the same as few values, as users are compared by it unless they say otherwise
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
        if tables["users"].attribute_column(name) is not None:
            continue
        if name not in COUNTED:
            known = [*COUNTED, *tables["users"].columns]
            error = unknown_name("covariate", name, known)
            raise InputError(
                f"{spell('adjust_for')}: {keep_spellings(error)}{tables['users'].hint}"
            )
        if name == HISTORY_LENGTH and "history" not in tables:
            raise InputError(
                f"{spell('adjust_for', [name])} counts the training interactions of each user. "
                f"Give them: {spell('history', Blank('FILE'))}, or a column of the users table."
            )
        if name in (LIST_LENGTH, N_RELEVANT, TIED) and "values" in tables:
            raise InputError(
                f"{spell('adjust_for', [name])} is counted in lists, and {spell('values')} have "
                "none. Give it as a column of the users table, by another name."
            )


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
        spec = AttributeSpec(name, name, None if bins is None else parse_binning(bins, text))
        numbers = pl.Series(name, _counted(name, inputs, wanted))
        found.append(encode_attribute(numbers, _binned(spec, numbers), name))
    for at, one in enumerate(found):
        if len(one.values) < 2:
            alike = f"the same for {one.unit.everyone}"
            note = f"{one.name} is {alike}, so nothing is adjusted for it"
            found[at] = replace(one, warnings=(*one.warnings, note))
    return tuple(found)


def counted_covariates(inputs: AuditInputs, wanted: Sequence[MetricAtK]) -> tuple[Covariate, ...]:
    """All covariates that can be counted in the tables and are not given."""
    is_given = {covariate.name for covariate in inputs.covariates}
    if "values" in inputs.tables or inputs.given.side == "items":
        return ()
    can_be_counted = {
        LIST_LENGTH: True,
        N_RELEVANT: _has_labels(inputs),
        HISTORY_LENGTH: "history" in inputs.tables,
        TIED: _can_be_tied(inputs, wanted),
    }
    found = []
    for name in COUNTED:
        if name in is_given or not can_be_counted[name]:
            continue
        numbers = _counted(name, inputs, wanted)
        if name == TIED and numbers.min() == numbers.max():
            continue
        spec = _binned(AttributeSpec(name, name), pl.Series(name, numbers))
        found.append(Covariate(numbers, encode_attribute(pl.Series(name, numbers), spec, name)))
    return tuple(found)


def _name_and_bins(text: str, table: Table) -> tuple[str, str | None]:
    """`age:10` is `age` in bins of `10`; a column whose name has a colon is taken as it is."""
    name, colon, bins = text.rpartition(":")
    if not colon or table.attribute_column(text) is not None:
        return text, None
    return name, bins


def _binned(spec: AttributeSpec, values: pl.Series) -> AttributeSpec:
    """With bins where it has many different numbers and nothing was said."""
    if spec.binning is not None or not values.dtype.is_numeric():
        return spec
    n_values = values.n_unique() - (values.null_count() > 0)
    if n_values <= FEW:
        return spec
    note = (
        f"{spec.name} has {n_values:,} different numbers and is compared in fifths of the users; "
        f"for other bins: {spell('adjust_for', [f'{spec.name}:10'])}"
    )
    if n_values <= _MANY and (values.cast(pl.Float64) % 1 == 0).all():
        note += f"; for each number by itself: {spell('adjust_for', [f'{spec.name}:1'])}"
    return replace(spec, binning=FIFTHS, warnings=(*spec.warnings, note))


def _counted(name: str, inputs: AuditInputs, wanted: Sequence[MetricAtK]) -> IntArray:
    if name == HISTORY_LENGTH:
        keys = inputs.all_users.keys[inputs.rows]
        return history_lengths(inputs.tables["history"], keys)
    lists = RankedLists(inputs.candidates, 0, inputs.side)
    if name == LIST_LENGTH:
        return lists.lengths[inputs.list_of_user]
    if name == TIED:
        if not _can_be_tied(inputs, wanted):
            raise InputError(
                f"{spell('adjust_for', [name])} looks at scores at the cut-off of a metric, and "
                "there are no scores in the table, or no metric with a cut-off. Leave it out."
            )
        return lists.are_tied(deepest(wanted))[1][inputs.list_of_user].astype(np.int64)
    if not _has_labels(inputs):
        raise InputError(
            f"{spell('adjust_for', [name])} counts relevant items, and "
            f"{inputs.tables['predictions'].where} has no labels. Add a label column, or give the "
            f"held-out interactions: {spell('test', Blank('FILE'))}"
        )
    return lists.n_relevant[inputs.list_of_user]


def _can_be_tied(inputs: AuditInputs, wanted: Sequence[MetricAtK]) -> bool:
    return len(inputs.candidates.scores) > 0 and deepest(wanted) > 0


def _has_labels(inputs: AuditInputs) -> bool:
    return inputs.candidates.labels is not None or inputs.candidates.held_out is not None
