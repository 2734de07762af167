"""What the named parts of all results are made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from fairrec.inputs.users import Value


class Part(BaseModel):
    """A frozen part of a result."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class GroupValue(Part):
    """A group and its value for one metric."""

    group: dict[str, Value] = Field(description="attribute -> value")
    value: float
    support: int = Field(description="users of the group with a defined value")
