"""Users -> counts of those who are alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import InputError, plain
from fairrec.core.version import __version__
from fairrec.counts.levels import find_families
from fairrec.counts.options import RESERVED_NAMES
from fairrec.counts.table import (
    AS_READ,
    FAMILY,
    LEVEL,
    SHARE,
    USERS,
    AttributeInfo,
    Counts,
    CountsInfo,
    OutcomeInfo,
    ValueKind,
    describe_metric,
    family_name,
    squares_column,
    sum_columns,
    sum_or_null,
)
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.users import MISSING, Attribute
from fairrec.metrics.measured import Measured, tied_lists
from fairrec.statistics.missing import (
    UNDEFINED,
    MissingOutcome,
    count_expected,
    possible_outcomes,
)


def count_users(inputs: AuditInputs, measured: Measured, edges: Mapping[str, FloatArray]) -> Counts:
    """The counts of audited users."""
    keys = (*inputs.attributes, *inputs.covariates)
    families = find_families(measured, edges)
    names = [metric.name for metric in measured.metrics]
    numbers = sum_columns((*names, SHARE))
    for key in keys:
        if key.name in (*RESERVED_NAMES, *numbers):
            raise InputError(
                f"Attribute '{plain(key.name)}' has the name of a column of the counts. Rename "
                "that column of the users table."
            )
    outcomes = possible_outcomes(measured, inputs)
    frames = []
    for family in families:
        values = {names[i]: measured.values[i] for i in family.metrics}
        name = family_name(tuple(values))
        frames.append(_counted(name, keys, family.level, family.labels, values))
    for outcome in outcomes:
        (share,) = outcome.share.values
        is_known = ~np.isnan(share)
        attributes = inputs.attributes if outcome.attributes is None else outcome.attributes
        frames.append(
            _counted(
                outcome_name(outcome),
                attributes,
                share[is_known].astype("int64"),
                pl.Series(["0", "1"]),
                {SHARE: share[is_known]},
                is_known,
            )
        )
    rows = pl.concat(frames, how="diagonal")
    order = [FAMILY, *(key.name for key in keys), LEVEL, USERS]
    info = CountsInfo(
        **{name: getattr(inputs.described, name) for name in AS_READ},
        fairrec_version=__version__,
        attributes=_describe(inputs.attributes),
        covariates=_describe(inputs.covariates),
        families=tuple(tuple(names[i] for i in family.metrics) for family in families),
        metrics={
            metric.name: describe_metric(metric, expected.n_users, expected.n_undefined)
            for metric, expected in zip(
                measured.metrics, count_expected(measured, inputs), strict=True
            )
        },
        levels={
            names[family.metrics[0]]: tuple(edges[names[family.metrics[0]]].tolist())
            for family in families
            if family.is_cut
        },
        missing={
            outcome_name(one): OutcomeInfo.model_validate(one, from_attributes=True)
            for one in outcomes
        },
        ties=tied_lists(inputs.candidates, measured.metrics),
        warnings=tuple(inputs.described.warnings),
    )
    return Counts(rows.select(order + numbers), info).summed()


def outcome_name(outcome: MissingOutcome) -> str:
    """The same in all parts, whatever was found there."""
    kind = "undefined" if outcome.kind in UNDEFINED else outcome.kind
    zero = ", counted as 0" if outcome.counts_as_zero else ""
    return f"{kind}{zero}: {family_name(outcome.metrics)}"


def _counted(
    name: str,
    keys: Sequence[Attribute],
    level: IntArray,
    labels: pl.Series,
    values: Mapping[str, FloatArray],
    is_counted: BoolArray | None = None,
) -> pl.DataFrame:
    """One family: users by codes first, which become texts where they are few."""
    codes = {key.name: key.codes if is_counted is None else key.codes[is_counted] for key in keys}
    sums = {name: pl.col(name).fill_nan(None) for name in values}
    counted = (
        pl.DataFrame({**codes, LEVEL: level, **values})
        .lazy()
        .group_by([*codes, LEVEL], maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias(USERS),
            *(sum_or_null(one).alias(n) for n, one in sums.items()),
            *(sum_or_null(one * one).alias(squares_column(n)) for n, one in sums.items()),
        )
        # in the order of users: that of threads would change the last digits from run to run
        .collect(engine="in-memory")
    )
    texts = [
        pl.Series(key.name, [str(value) for value in key.values], pl.String).gather(
            counted[key.name]
        )
        for key in keys
    ]
    return counted.with_columns(
        *texts, labels.gather(counted[LEVEL]).alias(LEVEL), pl.lit(name).alias(FAMILY)
    )


def _describe(attributes: Sequence[Attribute]) -> dict[str, AttributeInfo]:
    """The metadata of attributes or covariates, by name."""
    kinds: dict[type, ValueKind] = {bool: "true or false", int: "whole number", float: "number"}
    described = {}
    for one in attributes:
        types = {type(value) for value in one.values if value != MISSING}
        kind: ValueKind = kinds.get(types.pop(), "text") if len(types) == 1 else "text"
        described[one.name] = AttributeInfo(kind=kind, binning=one.binning)
    return described
