"""How an endpoint is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from fairrec.core.kinds import NAME, TEXT, number, one_of, pairs, whole
from fairrec.core.options import MODEL, Option, Options
from fairrec.scoring.http.protocol_names import PROTOCOL_NAMES
from fairrec.scoring.models.call_options import (
    ENDPOINT_CONCURRENCY,
    ENDPOINT_ROWS,
    Concurrency,
    Features,
    Inputs,
    Output,
    RowsPerCall,
)

MOST_REPLY_MB = 1024.0


def _protocol(given: Any) -> str:
    from fairrec.scoring.wire import PROTOCOLS

    PROTOCOLS[TEXT.parse(given)]
    return str(given)


@dataclass(frozen=True, kw_only=True)
class EndpointOptions(Options):
    """How an endpoint is asked."""

    protocol: Annotated[
        str,
        Option(
            replace(one_of(*PROTOCOL_NAMES), parse=_protocol),
            "With an endpoint: how it is asked",
            MODEL,
        ),
    ] = "oip"
    features: Features = None
    inputs: Inputs = field(default_factory=dict)
    output: Output = None
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
            "With an endpoint: seconds for one call as a whole, from connection to last byte",
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
            NAME.or_none(),
            "With an endpoint: environment variable that holds a bearer token",
            MODEL,
        ),
    ] = None
    query_env: Annotated[
        Mapping[str, str],
        Option(
            pairs(NAME.parse, "KEY=NAME, such as key=RANKER_KEY", "KEY=NAME"),
            "With an endpoint: keys of its query whose values environment variables hold: "
            "key=RANKER_KEY",
            MODEL,
        ),
    ] = field(default_factory=dict)
    max_reply_mb: Annotated[
        float,
        Option(
            number(above=0, most=MOST_REPLY_MB),
            "With an endpoint: the longest reply, in MB",
            MODEL,
        ),
    ] = 64.0
    first_wait: Annotated[
        float, Option(number(least=0), "Seconds before a call is repeated the first time", MODEL)
    ] = 0.5
    longest_wait: Annotated[
        float, Option(number(least=0), "The most seconds before a call is repeated again", MODEL)
    ] = 30.0
