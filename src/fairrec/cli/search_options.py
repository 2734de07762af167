"""The search that is asked for, turned into what the library takes."""

from __future__ import annotations

from typing import Annotated

from fairrec.cli.parameters import FieldsOf, Given
from fairrec.core.errors import InputError
from fairrec.core.options import declared, spelled
from fairrec.search.options import SearchOptions

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
