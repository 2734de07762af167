"""The options that name a model to ask, and how; shared by `fairrec audit` and `fairrec doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairrec.core.errors import InputError, plain

if TYPE_CHECKING:
    from fairrec.scoring.models.model import Model

ScorerOption = Annotated[
    str | None,
    typer.Option(help="A Python function to ask for scores: package.module:function"),
]
EndpointOption = Annotated[
    str | None, typer.Option(help="A model behind HTTP to ask: http://host/v2/models/ranker")
]
OnnxOption = Annotated[Path | None, typer.Option(help="A model in an ONNX file to ask.")]
ProtocolOption = Annotated[
    str | None, typer.Option(help="With --endpoint: oip (the default), tfserving or json.")
]
FeaturesOption = Annotated[
    str | None,
    typer.Option(help="Columns to give to the model beside the ids: users:age,items:categories"),
]
InputsOption = Annotated[
    list[str] | None, typer.Option(help="Other names of the model's inputs: uid=user_id")
]
OutputOption = Annotated[
    str | None, typer.Option(help="Which of the model's outputs holds the scores.")
]
ConcurrencyOption = Annotated[
    int | None, typer.Option(help="Calls under way at once. Default: 8 over HTTP, else 1.")
]
RowsPerCallOption = Annotated[
    int | None, typer.Option(help="The most candidates in a call. Default: 8192 over HTTP.")
]
RateOption = Annotated[
    float | None, typer.Option(help="With --endpoint: at most so many calls a second.")
]
TimeoutOption = Annotated[
    float | None, typer.Option(help="With --endpoint: seconds for a reply. Default: 30.")
]
RetriesOption = Annotated[
    int | None, typer.Option(help="With --endpoint: how often to repeat a call. Default: 8.")
]
TokenEnvOption = Annotated[
    str | None, typer.Option(help="With --endpoint: environment variable with a bearer token.")
]
MaxReplyOption = Annotated[
    float | None,
    typer.Option("--max-reply-mb", help="With --endpoint: the largest reply. Default: 64."),
]

_FOR_MODELS = ("features", "inputs", "output")
_FOR_ENDPOINTS = ("protocol", "rate", "timeout", "retries", "token_env", "max_reply_mb")


def chosen_model(
    scorer: str | None,
    endpoint: str | None,
    onnx: Path | None,
    inputs: Sequence[str] | None,
    **settings: Any,
) -> Model | None:
    """The model to ask; None where none is named, and then nothing else about it may be set."""
    named = {
        option: value
        for option, value in (("scorer", scorer), ("endpoint", endpoint), ("onnx", onnx))
        if value is not None
    }
    if len(named) > 1:
        raise InputError(f"Name one of {', '.join(f'--{option}' for option in named)}, not more.")
    given = {option: value for option, value in settings.items() if value is not None}
    if inputs:
        given["inputs"] = _renamed(inputs)
    refused: tuple[str, ...] = () if endpoint is not None else _FOR_ENDPOINTS
    if endpoint is None and onnx is None:
        refused += _FOR_MODELS
    for option in given:
        if not named or option in refused:
            wanted = "--endpoint" if option in _FOR_ENDPOINTS else "--endpoint or --onnx"
            wanted = wanted if option in refused else "--scorer, --endpoint or --onnx"
            raise InputError(f"--{option.replace('_', '-')} is for a model named by {wanted}.")
    if scorer is not None:
        from fairrec.scoring.models.load_function import load_function
        from fairrec.scoring.models.model import FunctionModel

        function, name = load_function(scorer)
        return FunctionModel(function, name=name, **given)
    if endpoint is not None:
        from fairrec.scoring.http.endpoint import Endpoint

        return Endpoint(endpoint, **given)
    if onnx is not None:
        from fairrec.scoring.models.onnx_file import OnnxModel

        return OnnxModel(onnx, **given)
    return None


def without_query(arguments: Sequence[str], endpoint: str | None) -> list[str]:
    """Arguments of a command, with the query of the endpoint's address blanked out."""
    if endpoint is None:
        return list(arguments)
    from fairrec.scoring.http.address import parse_address

    shown = parse_address(endpoint).shown
    return [argument.replace(endpoint, shown) for argument in arguments]


def _renamed(pairs: Sequence[str]) -> dict[str, str]:
    """`uid=user_id` as a mapping."""
    found: dict[str, str] = {}
    for pair in (part.strip() for text in pairs for part in text.split(",")):
        name, equals, column = (part.strip() for part in pair.partition("="))
        if not (name and equals and column) or name in found:
            raise InputError(
                f"--inputs {plain(repr(pair))} is not of the form INPUT=COLUMN, each input once. "
                "Example: --inputs uid=user_id,iid=item_id"
            )
        found[name] = column
    return found
