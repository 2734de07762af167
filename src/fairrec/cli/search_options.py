"""The search that is asked for, turned into what the library takes."""

from __future__ import annotations

from typing import Annotated

from fairrec.cli.parameters import FieldsOf, Given
from fairrec.core.errors import InputError
from fairrec.core.kinds import number
from fairrec.core.options import SEARCH, Option, declared, spelled
from fairrec.search.options import SearchOptions

SearchOption = Annotated[str | None, declared(SearchOptions)["name"]]
HOW_SEARCHED = FieldsOf(SearchOptions, without=("name",))
HowSearched = Annotated[Given, HOW_SEARCHED]
Theta = Annotated[
    float | None,
    Option(number(), "Smallest share of a group: --hyper theta=... of testsgd", SEARCH),
]


def search_options(name: str | None, given: Given, theta: float | None) -> SearchOptions | None:
    """The search asked for; None where none is, and then nothing else about it may be set."""
    if theta is not None:
        if "theta" in given.get("hyper", {}):
            twice = spelled("hyper", {"theta": given["hyper"]["theta"]})
            raise InputError(f"Give {spelled('theta')} or {twice}, not both.")
        given = {**given, "hyper": {**given.get("hyper", {}), "theta": theta}}
    if name is not None:
        return SearchOptions(name, **given)
    if given:
        lone = "theta" if theta is not None and set(given) == {"hyper"} else next(iter(given))
        raise InputError(
            f"{spelled(lone)} is for a search. Add --search NAME, such as --search adaptive."
        )
    return None
