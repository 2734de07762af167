"""The model to ask, how, and the search that asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from fairrec.cli.parameters import FieldsOf, Given
from fairrec.core.errors import InputError
from fairrec.core.kinds import FILE, TEXT
from fairrec.core.options import MODEL, Option, declared, spelled
from fairrec.scoring.options import CallOptions, EndpointOptions, OnnxOptions
from fairrec.search.options import SearchOptions

if TYPE_CHECKING:
    from fairrec.scoring.model import Model

ScorerOption = Annotated[
    str | None,
    Option(
        replace(TEXT, metavar="package.module:function"),
        "A Python function to ask for scores",
        MODEL,
    ),
]
EndpointOption = Annotated[
    str | None,
    Option(
        replace(TEXT, metavar="URL"),
        "A model behind HTTP to ask: http://host/v2/models/ranker",
        MODEL,
    ),
]
OnnxOption = Annotated[Path | None, Option(FILE, "A model in an ONNX file to ask", MODEL)]
HOW_ASKED = FieldsOf(EndpointOptions, without=("first_wait", "longest_wait"))
HowAsked = Annotated[Given, HOW_ASKED]

_FOR_MODELS = declared(OnnxOptions).keys() - declared(CallOptions)
_FOR_ENDPOINTS = declared(EndpointOptions).keys() - declared(OnnxOptions)


def chosen_model(
    scorer: str | None, endpoint: str | None, onnx: Path | None, given: Given
) -> Model | None:
    """The model to ask; None where none is named, and then nothing else about it may be set."""
    named = {
        option: value
        for option, value in (("scorer", scorer), ("endpoint", endpoint), ("onnx", onnx))
        if value is not None
    }
    if len(named) > 1:
        raise InputError(f"Name one of {', '.join(map(spelled, named))}, not more.")
    refused = _FOR_ENDPOINTS if endpoint is None else set()
    if endpoint is None and onnx is None:
        refused = refused | _FOR_MODELS
    for option in given:
        if not named or option in refused:
            wanted = "--endpoint" if option in _FOR_ENDPOINTS else "--endpoint or --onnx"
            wanted = wanted if option in refused else "--scorer, --endpoint or --onnx"
            raise InputError(f"{spelled(option)} is for a model named by {wanted}.")
    if scorer is not None:
        from fairrec.scoring.model import FunctionModel, load_function
        from fairrec.scoring.options import parse_features

        features = [one.column for one in parse_features(given.get("features"))]
        function, name = load_function(scorer, features)
        return FunctionModel(function, name=name, **given)
    if endpoint is not None:
        from fairrec.scoring.endpoint import Endpoint

        return Endpoint(endpoint, **given)
    if onnx is not None:
        from fairrec.scoring.onnx_model import OnnxModel

        return OnnxModel(onnx, **given)
    return None


def is_address(given: object) -> bool:
    """Whether a model is named by an address, and not by a folder."""
    return isinstance(given, str) and given.startswith(("http://", "https://"))


def other_endpoint(url: str, endpoint: str | None, given: Given) -> Model:
    """A second endpoint, asked as the first model is; secrets go to the host of the first alone."""
    for option in ("token_env", "query_env"):
        if option in given and urlsplit(url)[:2] != urlsplit(endpoint or "")[:2]:
            raise InputError(
                f"{spelled(option)} is for the host of {spelled('endpoint')}, and "
                f"{spelled('other_model')} is on another. In Python each has its own: "
                "fairrec.counterfactual(..., other_model=fairrec.Endpoint(URL, token_env=NAME))"
            )
    model = chosen_model(None, url, None, given)
    assert model is not None
    return model


def without_query(arguments: Sequence[str], *addresses: str | None) -> list[str]:
    """Arguments of a command, with the queries of addresses blanked out."""
    from fairrec.scoring.endpoint import parse_address

    for address in sorted(filter(None, addresses), key=len, reverse=True):
        shown = parse_address(address).shown
        arguments = [argument.replace(address, shown) for argument in arguments]
    return list(arguments)


SearchOption = Annotated[str | None, declared(SearchOptions)["name"]]
HOW_SEARCHED = FieldsOf(SearchOptions, without=("name",))
HowSearched = Annotated[Given, HOW_SEARCHED]


def search_options(name: str | None, given: Given) -> SearchOptions | None:
    """The search asked for; None where none is, and then nothing else about it may be set."""
    if name is not None:
        return SearchOptions(name, **given)
    if given:
        raise InputError(
            f"{spelled(next(iter(given)))} is for a search. Add --search NAME, such as "
            "--search adaptive."
        )
    return None
