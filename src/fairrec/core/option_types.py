"""The types of options: what each accepts, from Python and as text, and the words for it."""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BeforeValidator, Field, Strict
from pydantic.fields import FieldInfo


class UnfitError(ValueError):
    """A part of a value does not fit."""

    def __init__(self, part: object) -> None:
        super().__init__(part)
        self.part = part


def as_data(value: Any) -> Any:
    """The value as text, numbers, true and false, and lists and tables of these.

    >>> as_data((50.0, Path("a/b.csv"))), as_data({"ndcg@5": 0.03})
    ([50, 'a/b.csv'], {'ndcg@5': 0.03})
    """
    if isinstance(value, Mapping):
        return {str(name): as_data(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(part) for part in value]
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float):
        # 50 users, not 50.0 of them
        return int(value) if value.is_integer() else value
    return value.as_posix() if isinstance(value, Path) else str(value)


@dataclass(frozen=True, slots=True)
class Form:
    """How the values of a type are described and written; stands in `Annotated` beside it.

    Parameters
    ----------
    expected : the values in words; `{range}` becomes the bounds given by `Field`
    metavar : the same in a word or two, for the command line
    is_list : may be repeated on the command line
    is_split : if it may be repeated, whether commas separate its parts too
    is_switch : takes no value on the command line
    is_path : text names a file or folder, in a settings file relative to that file
    to_data : the value -> what a settings file holds
    """

    expected: str
    metavar: str = "TEXT"
    is_list: bool = False
    is_split: bool = True
    is_switch: bool = False
    is_path: bool = False
    to_data: Callable[[Any], Any] = as_data


_FORMS = {str: Form("text"), Path: Form("a path", "FILE", is_path=True)}


def describe(hint: Any) -> Form:
    """The form of an annotated type, with the bounds of its numbers in words.

    >>> describe(Annotated[Whole, Field(ge=0, le=10_000)]).expected
    'a whole number from 0 to 10,000'
    >>> describe(Annotated[Whole, Field(ge=1)] | Literal["full"]).expected
    "a whole number from 1, or 'full'"
    >>> describe(Literal["fail", "pass"] | None)
    Form(expected="'fail' or 'pass'", metavar='fail|pass', ...)
    """
    if get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        form = next((mark for mark in reversed(marks) if isinstance(mark, Form)), None)
        form = form or describe(inner)
        bounds = {
            name: getattr(bound, name)
            for mark in marks
            if isinstance(mark, FieldInfo)
            for bound in mark.metadata
            for name in ("gt", "ge", "lt", "le")
            if hasattr(bound, name)
        }
        return replace(form, expected=form.expected.replace("{range}", _range_text(**bounds)))
    if get_origin(hint) is Literal:
        words = [str(word) for word in get_args(hint)]
        quoted = [f"'{word}'" for word in words]
        text = " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))
        return Form(text, "|".join(words))
    if get_origin(hint) in (Union, types.UnionType):
        first, *others = [describe(part) for part in get_args(hint) if part is not type(None)]
        for other in others:
            expected = f"{first.expected}, or {other.expected}"
            first = replace(first, expected=expected, metavar=f"{first.metavar}|{other.metavar}")
        return first
    return _FORMS.get(hint, Form("another value"))


def _range_text(**bounds: float) -> str:
    most = "to" if "ge" in bounds else "up to"
    words = {"gt": "above", "ge": "from", "lt": "and below", "le": most}
    parts = [
        f" {words[name]} {bound:,g}" if isinstance(bound, float) else f" {words[name]} {bound:,}"
        for name, bound in bounds.items()
    ]
    return "".join(parts)


_BETWEEN_COMMAS = re.compile(r"(?:[^,\[]|\[[^\[\]]*\]|\[)+")
"""What stands in brackets belongs together, whatever it is."""


def split_names(given: str | Iterable[str]) -> list[str]:
    """The names in a text with commas, or in a sequence, whose names may contain commas.

    >>> split_names("gender, age:10,")
    ['gender', 'age:10']
    >>> split_names(["gender", "town, county"])
    ['gender', 'town, county']
    """
    if not isinstance(given, str | Iterable) or isinstance(given, bytes | Mapping):
        raise UnfitError(given)
    parts = _BETWEEN_COMMAS.findall(given) if isinstance(given, str) else [*given]
    if wrong := [part for part in parts if not isinstance(part, str)]:
        raise UnfitError(wrong[0])
    return [part.strip() for part in parts if part.strip()]


def split_pairs(
    given: str | Iterable[str] | Mapping[str, Any], between: str = "="
) -> dict[str, Any]:
    """The values by name in `name=value` pairs, each name once; a mapping as it is.

    >>> split_pairs("user_id=uid, items.categories=tags")
    {'user_id': 'uid', 'items.categories': 'tags'}
    >>> split_pairs("gender:2,age:7", between=":")
    {'gender': '2', 'age': '7'}
    >>> split_pairs("share@10[pay=high]=higher")
    {'share@10[pay=high]': 'higher'}
    """
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise UnfitError(name)
        return dict(given)
    pairs: dict[str, str] = {}
    for part in split_names(given):
        # what stands in brackets belongs to the name
        brackets = re.match(r"[^\[=]*\[[^\]]*\]", part)
        start = brackets.end() if brackets else 0
        rest, mark, value = part[start:].partition(between)
        name, value = (part[:start] + rest).strip(), value.strip()
        if not (name and mark and value) or name in pairs:
            raise UnfitError(part)
        pairs[name] = value
    return pairs


def parse_number(given: Any) -> int | float:
    """A number, or the number in a text.

    >>> parse_number("1000"), parse_number("0.5")
    (1000, 0.5)
    """
    if isinstance(given, str):
        try:
            return int(given)
        except ValueError:
            return float(given)
    if isinstance(given, bool) or not isinstance(given, Real):
        raise ValueError("not a number")
    return int(given) if isinstance(given, Integral) else float(given)


def parse_percentage(text: str) -> float:
    """The share in a percentage above 0% and up to 100%.

    >>> parse_percentage("10%"), parse_percentage("0.5 %")
    (0.1, 0.005)
    """
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*%", text.strip())
    if found is None or not 0 < float(found[1]) <= 100:
        raise ValueError("no percentage")
    return float(found[1]) / 100


def _parse_share(given: Any) -> float:
    if isinstance(given, str) and given.strip().endswith("%"):
        return float(given.strip().removesuffix("%")) / 100
    return parse_number(given)


def _parse_support(given: Any) -> float:
    value = _parse_share(given)
    is_percentage = isinstance(given, str) and "%" in given
    if not 0 < value < (1 if is_percentage else math.inf) or (value > 1 and value != int(value)):
        raise ValueError("no number of users")
    return float(value)


LEAST_MEMORY = 500_000_000
"""Bytes with which the smallest audit is done."""


def _parse_memory(given: Any) -> int:
    found = re.fullmatch(r"\s*([\d.,]+)\s*([kmgt]i?)b\s*", str(given), re.IGNORECASE)
    power = "kmgt".index(found[2][0].lower()) + 1 if found else 0
    unit = (1024 if found and found[2][1:] else 1000) ** power
    n_bytes = parse_number(found[1] if found else given) * unit
    if not LEAST_MEMORY <= n_bytes < 10**18:
        raise ValueError("too little or too much")
    return int(n_bytes)


Whole = Annotated[int, BeforeValidator(parse_number), Form("a whole number{range}", "N")]
Number = Annotated[
    float,
    BeforeValidator(parse_number),
    Field(allow_inf_nan=False),
    Form("a number{range}", "NUMBER"),
]
Share = Annotated[
    float,
    BeforeValidator(_parse_share),
    Field(allow_inf_nan=False),
    Form("a share{range} (0.05) or a percentage (5%)", "SHARE"),
]
Support = Annotated[
    float,
    BeforeValidator(_parse_support),
    Form("a share between 0 and 1 (0.001), a percentage (1%) or a number of users (50)", "SHARE|N"),
]
MemorySize = Annotated[
    int, BeforeValidator(_parse_memory), Form("an amount of memory from 500 MB (4GB)", "SIZE")
]
Name = Annotated[str, Form("a name", "NAME")]
Folder = Annotated[Path, Form("a path", "FOLDER", is_path=True)]
Table = Annotated[
    Any,
    BeforeValidator(lambda given: Path(given) if isinstance(given, str) else given),
    Form("a table", "FILE", is_path=True),
]
Switch = Annotated[bool, Strict(), Form("True or False", is_switch=True)]
Names = Annotated[
    tuple[str, ...],
    BeforeValidator(split_names),
    Form("names, with commas between them", "NAMES", is_list=True),
]
Pairs = BeforeValidator(split_pairs)
"""For mappings, which are written as `name=value` in text."""
