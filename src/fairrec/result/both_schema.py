"""What vouches for the two audits of a folder that holds both sides."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fairrec.result.parts import Part
from fairrec.statistics.outcome import Outcome


class BothSummary(Part):
    """The content of `both.json`."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    command: str
    outcome: Outcome | None = Field(
        description="that of the metrics of both audits which matters most; null where nothing was "
        "tested"
    )
    files: dict[str, str] = Field(description="the checksums of users/result.json, and of items/")
