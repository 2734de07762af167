"""How models are asked: which columns they are given, how many calls at once, how large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from fairrec.core.errors import InputError, plain
from fairrec.core.kinds import NAME, TEXT, Kind, names_in, number, one_of, pairs, whole
from fairrec.core.options import MODEL, Option, Options, spelled

IDS = ("user_id", "item_id")


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of the users or items table."""

    table: Literal["users", "items"]
    column: str


def parse_features(given: str | Sequence[str] | None) -> tuple[Feature, ...]:
    """Features from text such as `users:age,items:categories`.

    >>> parse_features("users:age, items:price")
    (Feature(table='users', column='age'), Feature(table='items', column='price'))

    A column without a table is of the table named before: `users:gender,age`.
    """
    found: list[Feature] = []
    for part in names_in(() if given is None else given):
        table, colon, column = part.partition(":")
        if found and not colon:
            table, column = found[-1].table, part
        if table not in ("users", "items") or not column:
            raise InputError(
                f"invalid {spelled('features')}: expected TABLE:COLUMN, such as users:age, got "
                f"{plain(repr(part))}"
            )
        if column in IDS or column in [feature.column for feature in found]:
            raise InputError(
                f"{spelled('features')}: two columns would be called {plain(repr(column))}. Name "
                "each once; user_id and item_id are there anyway."
            )
        found.append(Feature("users" if table == "users" else "items", column))
    return tuple(found)


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


PROTOCOL_NAMES = ("oip", "json", "tfserving")
"""For help, which must not load them."""
MOST_REPLY_MB = 1024.0


def _protocol(given: Any) -> str:
    from fairrec.scoring.protocols import PROTOCOLS

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


def _scorer(given: Any) -> Any:
    if given is None or callable(given):
        return given
    from fairrec.scoring.model import Model

    if not isinstance(given, Model):
        raise ValueError
    return given


ScorerIdentity = Annotated[
    str,
    Option(
        TEXT,
        "With a ledger: names the model and its version, so that its scores are never taken for "
        "another's",
        MODEL,
        default="as the model names itself",
    ),
]


@dataclass(frozen=True)
class ScorerOptions(Options):
    """The model that is asked for scores; None where they are in the table."""

    scorer: Annotated[
        Any,
        Option(
            Kind(_scorer, "a function of user ids and item ids, or a model"),
            "`(user_ids, item_ids) -> scores`, one number per pair, where the predictions table "
            "has no scores; or a model that is asked, `Endpoint(...)` or `OnnxModel(...)`",
            MODEL,
        ),
    ] = None
    scorer_identity: ScorerIdentity = ""


THE_TABLE = ScorerOptions()
"""No model: the scores are in the table."""
