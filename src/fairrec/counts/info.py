"""What a table of counts says of itself: how it was made, and of whom."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from fairrec.statistics.missing import Kind

KEY = "fairrec"
"""Under which it stands in the metadata of the file."""
ValueKind = Literal["text", "whole number", "number", "true or false"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="constants")


class AttributeInfo(_Part):
    """An attribute or a circumstance."""

    kind: ValueKind = "text"
    binning: str | None = None


class MetricInfo(_Part):
    """A metric, as the audit it was counted for knew it."""

    definition: str = ""
    called: str = ""
    higher_is_better: bool | None = None
    bounds: tuple[float, float] | None = None
    ratio_scale: bool | None = None
    n_expected: float = Field(description="users for whom a value is expected")
    n_undefined: float = Field(description="those of them who have none")


class OutcomeInfo(_Part):
    """A way to be missing, which is a family of its own."""

    kind: Kind
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
    given: tuple[str, ...] = ()
    attributes: dict[str, AttributeInfo]
    circumstances: dict[str, AttributeInfo] = Field(default_factory=dict)
    families: tuple[tuple[str, ...], ...] = Field(description="metrics that were counted together")
    metrics: dict[str, MetricInfo]
    levels: dict[str, tuple[float, ...]] = Field(
        default_factory=dict, description="edges between levels, of metrics counted by themselves"
    )
    missing: dict[str, OutcomeInfo] = Field(default_factory=dict)
    relevant: str | None = None
    missing_lists: Literal["zero", "drop"] = "zero"
    columns: dict[str, str] = Field(default_factory=dict)
    n_candidates: int = 0
    min_shown: int | None = None
    n_merged: int = Field(default=0, description="users in cells that were too small to be shown")
    warnings: tuple[str, ...] = ()
