"""The model to ask, how, and the search that asks it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fairrec.cli.parameters import Flags, Given
from fairrec.core.errors import InputError
from fairrec.core.option_types import Form
from fairrec.core.options import MODEL, Option, list_options, spell
from fairrec.scoring.options import CallOptions, EndpointOptions, OnnxOptions
from fairrec.search.options import Search

if TYPE_CHECKING:
    from fairrec.scoring.model import Model

ScorerOption = Annotated[
    str | None,
    Form("text", "package.module:function"),
    Option("Python scoring function", MODEL),
]
EndpointOption = Annotated[
    str | None,
    Form("text", "URL"),
    Option("URL of an HTTP model endpoint: http://host/v2/models/ranker", MODEL),
]
OnnxOption = Annotated[Path | None, Option("ONNX file of a scoring model", MODEL)]
HOW_ASKED = Flags(EndpointOptions)
HowAsked = Annotated[Given, HOW_ASKED]

_TAKEN = {
    "scorer": list_options(CallOptions),
    "endpoint": list_options(EndpointOptions),
    "onnx": list_options(OnnxOptions),
}
"""The options that each kind of model takes."""


def chosen_model(
    scorer: str | None, endpoint: str | None, onnx: Path | None, given: Given
) -> Model | None:
    """The model to ask; None where none is named, and then nothing else about it may be set."""
    models = {"scorer": scorer, "endpoint": endpoint, "onnx": onnx}
    named = [name for name, value in models.items() if value is not None]
    if len(named) > 1:
        raise InputError(f"Name one of {', '.join(map(spell, named))}, not more.")
    for option in given:
        fitting = [name for name, known in _TAKEN.items() if option in known]
        if not {*fitting} & {*named}:
            wanted = " or ".join(map(spell, fitting))
            raise InputError(f"{spell(option)} is for a model named by {wanted}.")
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


def without_query(arguments: Sequence[str], address: str | None) -> list[str]:
    """Arguments of a command, with the query of an address blanked out."""
    from fairrec.scoring.endpoint import parse_address

    if not address:
        return list(arguments)
    shown = parse_address(address).shown
    return [argument.replace(address, shown) for argument in arguments]


SearchOption = Annotated[
    str | None, Form("a searcher's name", "NAME"), list_options(Search)["name"]
]
HOW_SEARCHED = Flags(Search, without=("name",))
HowSearched = Annotated[Given, HOW_SEARCHED]


def search_options(name: str | None, given: Given, has_model: bool) -> Search | None:
    """The search asked for; None where none is, and then nothing else about it may be set."""
    if not has_model and "scorer_identity" in given:
        raise InputError("--scorer-identity is for a model. Name it: --scorer, --endpoint, --onnx.")
    name = "exact" if has_model and name is None else name
    if name is not None:
        return Search(name, **given)
    if given:
        raise InputError(
            f"{spell(next(iter(given)))} is for a search. Add --search NAME, such as "
            "--search adaptive."
        )
    return None
