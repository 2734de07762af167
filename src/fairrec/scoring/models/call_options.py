"""How a model is asked: how many calls at once, and how large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fairrec.core.kinds import whole
from fairrec.core.options import MODEL, Option, Options

ROWS_PER_CALL = 1 << 14
ENDPOINT_ROWS = 1 << 13
ENDPOINT_CONCURRENCY = 8

Concurrency = Annotated[
    int,
    Option(
        whole(1, 256),
        "Calls under way at once",
        MODEL,
        default=f"{ENDPOINT_CONCURRENCY} over HTTP, else 1",
    ),
]
RowsPerCall = Annotated[
    int,
    Option(
        whole(1, 1 << 24),
        "The most pairs of user and item in one call",
        MODEL,
        default=f"{ENDPOINT_ROWS:,} over HTTP, else {ROWS_PER_CALL:,}",
    ),
]


@dataclass(frozen=True)
class CallOptions(Options):
    """How a model in this process is asked."""

    concurrency: Concurrency = 1
    rows_per_call: RowsPerCall = ROWS_PER_CALL
