"""How an endpoint is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from fairrec.core.kinds import TEXT, Kind, number, pairs, whole
from fairrec.core.options import MODEL, Option, Options
from fairrec.scoring.models.call_options import (
    ENDPOINT_CONCURRENCY,
    ENDPOINT_ROWS,
    Concurrency,
    RowsPerCall,
)

MOST_REPLY_MB = 1024.0


def _features(given: Any) -> Any:
    """As they are, once they can be read."""
    from fairrec.scoring.models.features import parse_features

    parse_features(given)
    return given


def _protocol(given: Any) -> str:
    from fairrec.scoring.wire import PROTOCOLS

    PROTOCOLS[TEXT.parse(given)]
    return str(given)


@dataclass(frozen=True, kw_only=True)
class EndpointOptions(Options):
    """How an endpoint is asked.

    Parameters
    ----------
    first_wait, longest_wait : seconds before the first repetition, and before later ones at most
    """

    protocol: Annotated[
        str,
        Option(
            Kind(_protocol, "oip, tfserving or json", "oip|tfserving|json"),
            "With an endpoint: how it is asked",
            MODEL,
        ),
    ] = "oip"
    features: Annotated[
        str | Sequence[str] | None,
        Option(
            Kind(_features, "TABLE:COLUMN, such as users:age", "TABLE:COLUMN", is_list=True),
            "Columns given to the model beside the ids: users:age,items:categories",
            MODEL,
        ),
    ] = None
    inputs: Annotated[
        Mapping[str, str],
        Option(
            pairs(TEXT.parse, "INPUT=COLUMN, each input once, such as uid=user_id", "INPUT=COLUMN"),
            "Columns of the model's inputs where their names differ: uid=user_id,iid=item_id",
            MODEL,
        ),
    ] = field(default_factory=dict)
    output: Annotated[
        str | None,
        Option(TEXT.or_none(), "Which output holds the scores, where there are several", MODEL),
    ] = None
    concurrency: Concurrency = ENDPOINT_CONCURRENCY
    rows_per_call: RowsPerCall = ENDPOINT_ROWS
    rate: Annotated[
        float | None,
        Option(
            number(above=0).or_none(),
            "With an endpoint: the most calls a second, repeated ones included",
            MODEL,
        ),
    ] = None
    timeout: Annotated[
        float,
        Option(
            number(above=0, most=86_400),
            "With an endpoint: seconds for one reply as a whole",
            MODEL,
        ),
    ] = 30.0
    retries: Annotated[
        int,
        Option(
            whole(0, 1000), "With an endpoint: how often a call is repeated after a fault", MODEL
        ),
    ] = 8
    token_env: Annotated[
        str | None,
        Option(
            TEXT.or_none(),
            "With an endpoint: environment variable that holds a bearer token",
            MODEL,
        ),
    ] = None
    max_reply_mb: Annotated[
        float,
        Option(
            number(above=0, most=MOST_REPLY_MB),
            "With an endpoint: the longest reply, in MB",
            MODEL,
        ),
    ] = 64.0
    first_wait: float = 0.5
    longest_wait: float = 30.0
