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
    numbers = [n for name in (*names, SHARE) for n in (name, squares_column(name))]
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
    described = inputs.described
    described_keys = {one.name: AttributeInfo(kind=_kind(one), binning=one.binning) for one in keys}
    info = CountsInfo(
        fairrec_version=__version__,
        by=described.by,
        adjust_for=described.adjust_for,
        attributes={one.name: described_keys[one.name] for one in inputs.attributes},
        covariates={one.name: described_keys[one.name] for one in inputs.covariates},
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
        measured_by=described.measured_by,
        relevant=described.relevant,
        gain=described.gain,
        missing_lists=described.missing_lists,
        columns=described.columns,
        n_candidates=described.n_candidates,
        ties=tied_lists(inputs.candidates, measured.metrics),
        warnings=tuple(described.warnings),
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


def _kind(attribute: Attribute) -> ValueKind:
    known = [value for value in attribute.values if value != MISSING]
    if known and all(isinstance(value, bool) for value in known):
        return "true or false"
    if known and all(isinstance(value, int) for value in known):
        return "whole number"
    return "number" if known and all(isinstance(v, float) for v in known) else "text"
