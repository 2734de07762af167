"""What the named parts of all results are made of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from fairrec.inputs.users import Value


class Part(BaseModel):
    """A frozen part of a result."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def without(data: dict[str, Any], *names: str) -> dict[str, Any]:
    """What an older file holds, less what is not kept any more."""
    return {name: part for name, part in data.items() if name not in names}


class GroupValue(Part):
    """A group and its value for one metric."""

    group: dict[str, Value] = Field(description="attribute -> value")
    value: float
    support: int = Field(description="users of the group with a defined value")
