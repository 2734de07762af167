"""What a table of counts says of itself: how it was made, and of whom."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fairrec.inputs.audit_inputs import MeasuredBy
from fairrec.inputs.order import TiedLists
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
    n_expected: float = Field(
        ge=0, allow_inf_nan=False, description="users for whom a value is expected"
    )
    n_undefined: float = Field(ge=0, allow_inf_nan=False, description="those of them who have none")

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise ValueError("bounds that hold nothing")
        return self


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

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        counted = [name for family in self.families for name in family]
        if not counted or sorted(counted) != sorted(self.metrics):
            raise ValueError("families that are not of its metrics")
        if not self.attributes or {*self.attributes} & {*self.circumstances}:
            raise ValueError("attributes that define no groups")
        named = {name for one in self.missing.values() for name in one.metrics}
        if not (named | {*self.levels}) <= {*self.metrics}:
            raise ValueError("metrics that were not counted")
        return self
