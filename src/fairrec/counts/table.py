"""A table of counts: its columns, its metadata, and its file.

One row is all users of one combination of attributes and covariates who are on one level of a
family of metrics: how many they are, and the sums of their values and of the squares of these.
Rows of a family hold every user once, so that families stand below one another.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fairrec.core.arrays import ROUNDING
from fairrec.core.atomic_io import atomic_file, errors_of_polars
from fairrec.core.errors import FairRecError, InputError, plain, unknown_name
from fairrec.core.files import describe_first_error, errors_of_reading, open_file
from fairrec.core.options import spell
from fairrec.core.version import __version__
from fairrec.inputs.audit_inputs import MeasuredBy
from fairrec.inputs.order import TiedLists
from fairrec.metrics import MetricAtK
from fairrec.metrics.parsing import parse_metric
from fairrec.metrics.value_columns import metric_of_column
from fairrec.statistics.missing import MissingKind

KEY = "fairrec"
"""Under which it stands in the metadata of the file."""
ValueKind = Literal["text", "whole number", "number", "true or false"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="constants")


class AttributeInfo(_Part):
    """An attribute or a covariate."""

    kind: ValueKind = "text"
    binning: str | None = None


class MetricInfo(_Part):
    """A metric, as the audit it was counted for knew it."""

    definition: str = ""
    called: str = ""
    higher_is_better: bool | None = None
    bounds: tuple[float, float] | None = None
    ratio_scale: bool | None = None
    n_expected: float = Field(
        ge=0, allow_inf_nan=False, description="users for whom a value is expected"
    )
    n_undefined: float = Field(ge=0, allow_inf_nan=False, description="those of them who have none")


MEANING = {"definition", "called", "higher_is_better", "bounds", "ratio_scale"}
"""What the metadata of a metric and the metric itself have in common."""


def describe_metric(metric: MetricAtK, n_expected: float, n_undefined: float) -> MetricInfo:
    """The metadata of a metric."""
    meaning = {name: getattr(metric.metric, name) for name in MEANING} | {"called": metric.called}
    return MetricInfo(**meaning, n_expected=n_expected, n_undefined=n_undefined)


class OutcomeInfo(_Part):
    """A way to be missing, which is a family of its own."""

    kind: MissingKind
    metrics: tuple[str, ...]
    counts_as_zero: bool = False
    is_no_fault: bool = False


class CountsInfo(_Part):
    """What stands in the file beside its rows.

    Parts are whose counts these are; counts of the same part are of the same users.
    """

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    parts: tuple[str, ...] = ()
    by: tuple[str, ...]
    adjust_for: tuple[str, ...] = ()
    attributes: dict[str, AttributeInfo]
    covariates: dict[str, AttributeInfo] = Field(default_factory=dict)
    families: tuple[tuple[str, ...], ...] = Field(description="metrics that were counted together")
    metrics: dict[str, MetricInfo]
    levels: dict[str, tuple[float, ...]] = Field(
        default_factory=dict, description="edges between levels, of metrics counted by themselves"
    )
    missing: dict[str, OutcomeInfo] = Field(default_factory=dict)
    measured_by: MeasuredBy | None = None
    relevant: str | None = None
    gain: str | None = None
    missing_lists: Literal["zero", "drop"] = "zero"
    columns: dict[str, str] = Field(default_factory=dict)
    n_candidates: int = Field(default=0, ge=0)
    ties: TiedLists | None = Field(default=None, description="lists with equal scores")
    min_shown: int | None = Field(default=None, ge=1)
    n_merged: int = Field(
        default=0, ge=0, description="users in cells that were too small to be shown"
    )
    warnings: tuple[str, ...] = ()

    @property
    def described_keys(self) -> dict[str, AttributeInfo]:
        """Attributes and covariates."""
        return {**self.attributes, **self.covariates}


AS_READ = (
    *("by", "adjust_for", "columns", "relevant", "gain", "missing_lists"),
    *("measured_by", "n_candidates"),
)
"""What stands in the file as it does among the metadata of the inputs."""
FAMILY, LEVEL, USERS = "family", "level", "users"
SHARE = "missing"
"""The value that is counted where it is about who is missing."""


def squares_column(name: str) -> str:
    """The column with the squares of a metric."""
    return f"{name}^2"


def sum_columns(names: Iterable[str]) -> list[str]:
    """The columns with the sums of metrics, and of their squares."""
    return [column for name in names for column in (name, squares_column(name))]


def checked_rows(rows: pl.DataFrame, where: str) -> pl.DataFrame:
    """The rows, if they can be counts."""

    def refuse(is_wrong: bool, what: str) -> None:
        if is_wrong:
            raise InputError(f"{where}: {what}")

    for name in (FAMILY, LEVEL, USERS):
        refuse(
            name not in rows.columns,
            f"has no column '{name}', so it is no table of counts. Make it by fairrec count, or as "
            "docs/scale.md says.",
        )
    users = rows[USERS]
    refuse(
        not users.dtype.is_integer() or users.null_count() > 0 or bool((users < 0).any()),
        f"'{USERS}' must be whole numbers, 0 or more: the number of users of a row.",
    )
    refuse(
        rows[FAMILY].null_count() > 0,
        f"{rows[FAMILY].null_count():,} rows have no family. Name the metrics of each row.",
    )
    values = [name for name in rows.columns if squares_column(name) in rows.columns]
    sums = sum_columns(values)
    refuse(
        not values,
        "has no sums of a metric: a column such as 'ndcg@10', and 'ndcg@10^2' with the squares.",
    )
    for name in sums:
        refuse(not rows.schema[name].is_numeric(), f"'{plain(name)}' must be numbers: sums.")
    rows = rows.filter(pl.col(USERS) > 0).with_columns(
        pl.col(FAMILY, LEVEL).cast(pl.String),
        pl.col(USERS).cast(pl.Int64),
        pl.col(sums).cast(pl.Float64),
    )
    refuse(not rows.height, "has no users.")
    for name in values:
        _refuse_impossible(rows, name, where)
    # unknown, as text and as a number
    keys = rows.select(pl.exclude(FAMILY, LEVEL, USERS, *sums)).schema
    return rows.with_columns(
        pl.col(name).fill_nan(None)
        if dtype.is_float()
        else pl.when(pl.col(name) != "").then(pl.col(name)).alias(name)
        for name, dtype in keys.items()
        if dtype.is_float() or dtype == pl.String
    )


def _refuse_impossible(rows: pl.DataFrame, name: str, where: str) -> None:
    """Sums that no users have."""
    total, squares = pl.col(name), pl.col(squares_column(name))
    both = f"'{plain(name)}' and '{plain(squares_column(name))}'"
    is_finite = total.is_finite() & squares.is_finite()
    if rows.filter((total.is_null() != squares.is_null()) | ~is_finite).height:
        raise InputError(
            f"{where}: {both} must be finite numbers, and empty in the same rows, those of users "
            "without a value."
        )
    # a mean of squares is never below the square of the mean
    less = rows.filter(squares * pl.col(USERS) < total**2 * (1 - ROUNDING))
    if less.height:
        n, sum_, squared = less.select(USERS, total, squares).row(0)
        raise InputError(
            f"{where}: {both} cannot be the sums {sum_:g} of values and {squared:g} of their "
            f"squares over {n:,} users ({less.height:,} such rows)."
        )


def refuse_unlike(rows: pl.DataFrame, info: CountsInfo, where: str) -> None:
    """An error where rows lack columns of their metadata."""
    for name in (*info.described_keys, *sum_columns(info.metrics)):
        if name not in rows.columns:
            raise InputError(f"{where}: has no column '{plain(name)}'. Count again.")


def family_name(metrics: tuple[str, ...]) -> str:
    """As the column of families has it."""
    return ",".join(metrics)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of users."""

    rows: pl.DataFrame
    info: CountsInfo | None
    where: str = "the counts"

    @property
    def about(self) -> CountsInfo:
        """The metadata, where there are any."""
        assert self.info is not None
        return self.info

    @property
    def keys(self) -> list[str]:
        """Attributes and covariates."""
        if self.info is not None:
            return [*self.info.described_keys]
        others = {FAMILY, LEVEL, USERS, *sum_columns((*self.values, SHARE))}
        return [one for one in self.rows.columns if one not in others]

    @property
    def values(self) -> list[str]:
        """The columns with sums."""
        columns = self.rows.columns
        return [one for one in columns if one != SHARE and squares_column(one) in columns]

    def summed(self) -> Counts:
        """The same with one row for each combination of keys and level, sorted."""
        sums = sum_columns((*self.values, SHARE))
        numbers = [name for name in (USERS, *sums) if name in self.rows.columns]
        keys = [FAMILY, *self.keys, LEVEL]
        rows = (
            self.rows.group_by(keys)
            .agg(sum_or_null(pl.col(name)).alias(name) for name in numbers)
            .sort(keys, nulls_last=True)
            .select(*keys, *numbers)
        )
        return replace(self, rows=rows)


def sum_or_null(values: pl.Expr) -> pl.Expr:
    """The sum, and null where none has a value."""
    return pl.when(values.count() > 0).then(values.sum())


def write_counts(counts: Counts, file: Path) -> None:
    """Write counts whole or not at all."""
    metadata = counts.about.model_dump_json(exclude_defaults=False)
    with atomic_file(file) as path, errors_of_polars():
        counts.rows.write_parquet(path, metadata={KEY: metadata})


def read_counts(file: Path) -> Counts:
    """The counts in a file, by `fairrec count` or by any engine that wrote these columns."""
    where = plain(file, 300)
    fix = "Give a file that fairrec count has written."
    with open_file(file, fix) as stream, errors_of_reading(file, fix):
        content = stream.read()
        metadata = pl.read_parquet_metadata(io.BytesIO(content))
        rows = pl.read_parquet(content)
    info = None
    if KEY in metadata:
        try:
            info = CountsInfo.model_validate_json(metadata[KEY])
        except ValidationError as error:
            raise InputError(
                f"{where}: is no table of counts of this version of FairRec "
                f"({describe_first_error(error)}). Count again."
            ) from error
    return Counts(checked_rows(rows, where), info, where)


def with_info(counts: Counts, better: Mapping[str, bool]) -> Counts:
    """The same with metadata from its columns, where another tool has made it.

    Such a table has no metadata, so that families, metrics and attributes are read from its
    columns, and what cannot be meant is refused.

    Parameters
    ----------
    better : which end is better of a metric that is unknown, or that has no better end
    """
    if counts.info is not None:
        return counts
    rows, keys, where = counts.rows, counts.keys, counts.where
    if not keys:
        raise InputError(f"{where}: has no attribute, so there are no groups. Give each a column.")
    families = {name: tuple(name.split(",")) for name in rows[FAMILY].unique(maintain_order=True)}
    metrics: dict[str, MetricInfo] = {}
    missing: dict[str, OutcomeInfo] = {}
    who_is_missing = []
    for family, names in families.items():
        mine = rows.filter(pl.col(FAMILY) == family)
        for name in names:
            if name not in counts.values:
                raise InputError(
                    f"{where}: the family '{plain(family)}' has no columns '{plain(name)}' and "
                    f"'{plain(squares_column(name))}' with the sums over its users."
                )
            if name in metrics:
                raise InputError(f"{where}: '{plain(name)}' is in two families.")
            metrics[name] = describe_metric(
                _find_known(name) or metric_of_column(name, {}, "the counts"),
                float(mine[USERS].sum()),
                float(mine.filter(pl.col(name).is_null())[USERS].sum()),
            )
            if name in better:
                update = {"higher_is_better": better[name]}
                metrics[name] = metrics[name].model_copy(update=update)
            outcome = f"undefined: {name}"
            missing[outcome] = OutcomeInfo(kind="undefined", metrics=(name,))
            is_undefined = pl.col(name).is_null().cast(pl.Int64)
            total = (pl.col(USERS) * is_undefined).cast(pl.Float64)
            who_is_missing.append(
                mine.select(
                    pl.lit(outcome).alias(FAMILY),
                    *keys,
                    is_undefined.cast(pl.String).alias(LEVEL),
                    USERS,
                    total.alias(SHARE),
                    total.alias(squares_column(SHARE)),
                )
            )
            _refuse_beyond(mine, name, metrics[name].bounds, where)
    _refuse_aside(counts, metrics, better)
    attributes = {name: AttributeInfo(kind=_kind(rows.schema[name])) for name in keys}
    info = CountsInfo(
        fairrec_version=__version__,
        by=tuple(attributes),
        attributes=attributes,
        families=tuple(families.values()),
        metrics=metrics,
        missing=missing,
    )
    rows = pl.concat([rows, *who_is_missing], how="diagonal_relaxed")
    return replace(counts, rows=rows, info=info)


def _refuse_aside(counts: Counts, metrics: Iterable[str], better: Mapping[str, bool]) -> None:
    """Refuse sums of no family, and better ends of other metrics or of those that have one."""
    for name in counts.values:
        if name not in metrics:
            raise InputError(
                f"{counts.where}: '{plain(name)}' is in no family, so its sums would be left out. "
                "Add it, or drop the column."
            )
    for name in better:
        if name not in metrics:
            raise unknown_name("metric in these counts", name, metrics)
        known = _find_known(name)
        if known is not None and known.metric.higher_is_better is not None:
            raise InputError(
                f"{spell('better')}: which end of {plain(name)} is better is known. Leave it out."
            )


def _find_known(name: str) -> MetricAtK | None:
    """The metric of this name, or None."""
    with suppress(FairRecError):
        return parse_metric(name)
    return None


def _refuse_beyond(
    rows: pl.DataFrame, name: str, bounds: tuple[float, float] | None, where: str
) -> None:
    """Sums that cannot be of the metric they are called."""
    low, high = bounds or (-np.inf, np.inf)
    mean = rows[name] / rows[USERS]
    beyond = mean.filter(~mean.is_between(low - ROUNDING, high + ROUNDING))
    if len(beyond):
        raise InputError(
            f"{where}: '{plain(name)}' lies between {low:g} and {high:g}, and has the mean "
            f"{beyond[0]:g} in a row ({len(beyond):,} such rows). Give the sum over its users, or "
            "another name to another metric."
        )


def _kind(dtype: pl.DataType) -> ValueKind:
    if dtype == pl.Boolean:
        return "true or false"
    if dtype.is_integer():
        return "whole number"
    return "number" if dtype.is_float() else "text"
