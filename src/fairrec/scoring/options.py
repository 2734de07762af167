"""How models are asked: which columns they are given, how many calls at once, how large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fairrec.core.errors import InputError, plain
from fairrec.core.option_types import Form, Name, Number, Pairs, Whole, describe, split_names
from fairrec.core.options import MODEL, Option, Options, grouped, options, spell

IDS = ("user_id", "item_id")


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of the users or items table."""

    table: Literal["users", "items"]
    column: str

    def __str__(self) -> str:
        return f"{self.table}:{self.column}"


def parse_features(given: str | Sequence[str] | None) -> tuple[Feature, ...]:
    """Features from text such as `users:age,items:categories`.

    >>> parse_features("users:age, items:price")
    (Feature(table='users', column='age'), Feature(table='items', column='price'))

    A column without a table is of the table named before: `users:gender,age`.
    """
    found: list[Feature] = []
    for part in split_names(() if given is None else given):
        table, colon, column = part.partition(":")
        if found and not colon:
            table, column = found[-1].table, part
        if table not in ("users", "items") or not column:
            raise InputError(
                f"invalid {spell('features')}: expected TABLE:COLUMN, such as users:age, got "
                f"{plain(repr(part))}"
            )
        if column in IDS or column in [feature.column for feature in found]:
            raise InputError(
                f"{spell('features')}: two columns would be called {plain(repr(column))}. Name "
                "each once; user_id and item_id are there anyway."
            )
        found.append(Feature("users" if table == "users" else "items", column))
    return tuple(found)


ROWS_PER_CALL = 1 << 14
ENDPOINT_ROWS = 1 << 13
ENDPOINT_CONCURRENCY = 8

Concurrency = Annotated[
    Whole,
    Field(ge=1, le=256),
    Option("Calls under way at once", MODEL, default=f"{ENDPOINT_CONCURRENCY} over HTTP, else 1"),
]
RowsPerCall = Annotated[
    Whole,
    Field(ge=1, le=1 << 24),
    Option(
        "The most pairs of user and item in one call",
        MODEL,
        default=f"{ENDPOINT_ROWS:,} over HTTP, else {ROWS_PER_CALL:,}",
    ),
]


def _check_features(given: Any) -> Any:
    """As they are, once they can be read."""
    parse_features(given)
    return given


Features = Annotated[
    Any,
    BeforeValidator(_check_features),
    Form("TABLE:COLUMN, such as users:age", "TABLE:COLUMN", is_list=True),
    Option("Columns given to the model beside the ids: users:age,items:categories", MODEL),
]
Inputs = Annotated[
    Mapping[str, str],
    Pairs,
    Form("INPUT=COLUMN, each input once, such as uid=user_id", "INPUT=COLUMN", is_list=True),
    Option(
        "Columns of the model's inputs where their names differ: uid=user_id,iid=item_id", MODEL
    ),
]
Output = Annotated[
    Name | None,
    Option("Which output holds the scores, where there are several", MODEL),
]


@options
class CallOptions(Options):
    """How a model in this process is asked."""

    concurrency: Concurrency = 1
    rows_per_call: RowsPerCall = ROWS_PER_CALL
    features: Features = None


@options
class OnnxOptions(CallOptions):
    """How a model in an ONNX file is asked."""

    inputs: Inputs = field(default_factory=dict)
    output: Output = None


def _check_protocol(given: Any) -> Any:
    from fairrec.scoring.protocols import PROTOCOLS

    if isinstance(given, str):
        PROTOCOLS[given]
    return given


@grouped("scorer")
@options
class EndpointOptions(OnnxOptions):
    """How an endpoint is asked."""

    concurrency: Concurrency = ENDPOINT_CONCURRENCY
    rows_per_call: RowsPerCall = ENDPOINT_ROWS
    protocol: Annotated[
        str,
        BeforeValidator(_check_protocol),
        # named here for help, which must not load them
        describe(Literal["oip", "json", "tfserving"]),
        Option("With an endpoint: how it is asked", MODEL),
    ] = "oip"
    rate: Annotated[
        Annotated[Number, Field(gt=0)] | None,
        Option("With an endpoint: the most calls a second, repeated ones included", MODEL),
    ] = None
    timeout: Annotated[
        Number,
        Field(gt=0, le=86_400),
        Option(
            "With an endpoint: seconds for one call as a whole, from connection to last byte", MODEL
        ),
    ] = 30.0
    retries: Annotated[
        Whole,
        Field(ge=0, le=1000),
        Option("With an endpoint: how often a call is repeated after a fault", MODEL),
    ] = 8
    token_env: Annotated[
        Name | None,
        Option("With an endpoint: environment variable that holds a bearer token", MODEL),
    ] = None
