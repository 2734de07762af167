"""How a model is asked: how many calls at once, how large, and with which columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from fairrec.core.kinds import NAME, TEXT, Kind, pairs, whole
from fairrec.core.options import MODEL, Option, Options
from fairrec.scoring.models.feature_names import parse_features

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


def _features(given: Any) -> Any:
    """As they are, once they can be read."""
    parse_features(given)
    return given


Features = Annotated[
    str | Sequence[str] | None,
    Option(
        Kind(_features, "TABLE:COLUMN, such as users:age", "TABLE:COLUMN", is_list=True),
        "Columns given to the model beside the ids: users:age,items:categories",
        MODEL,
    ),
]
Inputs = Annotated[
    Mapping[str, str],
    Option(
        pairs(TEXT.parse, "INPUT=COLUMN, each input once, such as uid=user_id", "INPUT=COLUMN"),
        "Columns of the model's inputs where their names differ: uid=user_id,iid=item_id",
        MODEL,
    ),
]
Output = Annotated[
    str | None,
    Option(NAME.or_none(), "Which output holds the scores, where there are several", MODEL),
]


@dataclass(frozen=True)
class CallOptions(Options):
    """How a model in this process is asked."""

    concurrency: Concurrency = 1
    rows_per_call: RowsPerCall = ROWS_PER_CALL
    features: Features = None


@dataclass(frozen=True, kw_only=True)
class OnnxOptions(Options):
    """How a model in an ONNX file is asked."""

    features: Features = None
    inputs: Inputs = field(default_factory=dict)
    output: Output = None
    concurrency: Concurrency = CallOptions.concurrency
    rows_per_call: RowsPerCall = CallOptions.rows_per_call
