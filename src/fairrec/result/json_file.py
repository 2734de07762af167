"""JSON files of ours, read back: what does not fit is told in one line."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from fairrec.core.errors import InputError, plain
from fairrec.core.files import file_bytes
from fairrec.result.parts import Part

Content = TypeVar("Content", bound=Part)


def load_json(path: Path, content: type[Content], called: str, fix: str = "") -> Content:
    """The content of a file that FairRec wrote.

    Parameters
    ----------
    called : what the file is, without an article
    fix : what to do where it cannot be read
    """
    data = file_bytes(path, fix=fix or "Check the path.")
    try:
        # what is not a number is written as null
        from_json(data, allow_inf_nan=False)
        return content.model_validate_json(data)
    except ValidationError as error:
        reason = _first_of(error)
    # results of earlier versions are brought to this one before they are checked
    except (ValueError, TypeError, KeyError, ArithmeticError) as error:
        reason = plain(error)
    raise InputError(
        f"{plain(path, 300)}: is no {called} of this version of FairRec ({reason}). Write it again."
    )


def _first_of(error: ValidationError) -> str:
    """Where the first of the errors is, and how many more there are."""
    first, *others = error.errors(include_url=False, include_context=False, include_input=False)
    place = plain(".".join(map(str, first["loc"])))
    kind = first["type"]
    if kind in _OURS:
        said = plain(first["msg"].removeprefix("Value error, "), 200)
        words = f"{place}: {said}" if place else said
    else:
        words = f"{place} {_SAID.get(kind, 'has another form')}" if place else "it is no such JSON"
    return f"{words}; {len(others):,} more" if others else words


_OURS = ("value_error", "assertion_error")
"""Errors of the schema's own checks, which have words of their own."""
_SAID = {"missing": "is missing", "extra_forbidden": "is not known"}
