"""The options that name a search, turned into what the library takes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fairrec.core.errors import InputError

if TYPE_CHECKING:
    from fairrec.search.options import SearchOptions


def search_options(
    name: str | None,
    *,
    hyper: list[str] | None,
    theta: float | None,
    **settings: Any,
) -> SearchOptions | None:
    """The search asked for; None where none is, and then nothing else about it may be set."""
    given = {option: value for option, value in settings.items() if value is not None}
    if name is None:
        lone = [*given, *(["hyper"] if hyper else []), *(["theta"] if theta is not None else [])]
        if lone:
            option = lone[0].replace("_", "-")
            raise InputError(
                f"--{option} is for a search. Add --search NAME, such as --search adaptive."
            )
        return None
    from fairrec.search.options import SearchOptions

    numbers = dict(map(hyper_parameter, hyper or ()))
    if theta is not None:
        numbers["theta"] = theta
    return SearchOptions(name, hyper=numbers, **given)


def hyper_parameter(text: str) -> tuple[str, float]:
    """`name=value` as a pair."""
    name, equals, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (name.strip() and equals and math.isfinite(number)):
        raise InputError(f"--hyper {text} is not possible. Write name=number: --hyper alpha=0.09")
    return name.strip(), number
