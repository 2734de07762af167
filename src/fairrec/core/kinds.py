"""Kinds of options: which values one takes, from Python and as text, and how that is said."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

_BETWEEN_COMMAS = re.compile(r"(?:[^,\[]|\[[^\[\]]*\]|\[)+")
"""What stands in brackets belongs together, whatever it is."""


class UnfitError(ValueError):
    """A part of what was given does not fit, and why, where that is not plain to see."""

    def __init__(self, part: object, why: str = "") -> None:
        super().__init__(part)
        self.part, self.why = part, why


def names_in(given: str | Iterable[str]) -> list[str]:
    """The names in a text with commas, or in a sequence, which may have names with commas.

    >>> names_in("gender, age:10,")
    ['gender', 'age:10']
    >>> names_in(["gender", "town, county"])
    ['gender', 'town, county']
    """
    if isinstance(given, bytes | Mapping):
        raise UnfitError(given)
    parts = _BETWEEN_COMMAS.findall(given) if isinstance(given, str) else [*given]
    for part in parts:
        if not isinstance(part, str):
            raise UnfitError(part)
    return [part.strip() for part in parts if part.strip()]


def pairs_in(given: str | Iterable[str] | Mapping[str, str], between: str = "=") -> dict[str, str]:
    """The values by name in `name=value` pairs, each name once; a mapping as it is.

    >>> pairs_in("user_id=uid, items.categories=tags")
    {'user_id': 'uid', 'items.categories': 'tags'}
    >>> pairs_in("gender:2,age:7", between=":")
    {'gender': '2', 'age': '7'}
    >>> pairs_in("share@10[pay=high]=higher")
    {'share@10[pay=high]': 'higher'}
    """
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise UnfitError(name)
        return dict(given)
    pairs: dict[str, str] = {}
    for part in names_in(given):
        # what stands in brackets belongs to the name
        brackets = re.match(r"[^\[=]*\[[^\]]*\]", part)
        start = brackets.end() if brackets else 0
        rest, mark, value = part[start:].partition(between)
        name, value = (part[:start] + rest).strip(), value.strip()
        if not (name and mark and value) or name in pairs:
            raise UnfitError(part)
        pairs[name] = value
    return pairs


_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_EXACT = 2**53
"""Up to here every whole number is a float of its own."""
LEAST_MEMORY = 500_000_000
"""Bytes with which the smallest audit is done."""


def as_data(value: Any) -> Any:
    """The value as text, numbers, true and false, and lists and tables of these.

    What is none of them is written as its text.

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
        return int(value) if value.is_integer() and abs(value) < _EXACT else value
    return value.as_posix() if isinstance(value, Path) else str(value)


@dataclass(frozen=True, slots=True)
class Kind:
    """What values an option takes.

    Parameters
    ----------
    parse : the value as given, text or not -> the value; ValueError or TypeError where it does
        not fit, UnfitError where a part of it does not
    expected : the values in words
    metavar : the same in a word or two, for the command line
    is_list : may be repeated on the command line, or joined by commas, which is the same
    is_split : where it may be repeated, whether commas part it
    is_switch : takes no value on the command line
    is_path : names a file or folder where it is text, in a settings file from that file's folder
    written : the value -> what a settings file holds, which `parse` reads back
    """

    parse: Callable[[Any], Any]
    expected: str
    metavar: str = "TEXT"
    is_list: bool = False
    is_split: bool = True
    is_switch: bool = False
    is_path: bool = False
    written: Callable[[Any], Any] = as_data

    def or_none(self) -> Kind:
        """The same, and None."""
        return replace(self, parse=lambda given: None if given is None else self.parse(given))

    def or_word(self, word: str) -> Kind:
        """The same, and a word.

        >>> whole(1).or_word("full").parse("full")
        'full'
        """
        return replace(
            self,
            parse=lambda given: (
                word if isinstance(given, str) and given == word else self.parse(given)
            ),
            expected=f"{self.expected}, or '{word}'",
            metavar=f"{self.metavar}|{word}",
        )


def whole(least: int, most: int | None = None) -> Kind:
    """Whole numbers, however they are written.

    >>> kind = whole(0, 10_000)
    >>> kind.expected
    'a whole number from 0 to 10,000'
    >>> kind.parse(1e2), kind.parse("1,000"), kind.parse(7)
    (100, 1000, 7)
    """

    def parse(given: Any) -> int:
        number = to_number(given)
        if isinstance(number, float) and not number.is_integer():
            raise ValueError
        if not least <= number or not (most is None or number <= most):
            raise ValueError
        return int(number)

    upper = "" if most is None else f" to {most:,}"
    return Kind(parse, f"a whole number from {least:,}{upper}", "N")


def number(
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> Kind:
    """Finite numbers in a range, without its ends or with them.

    >>> number(above=0, below=1).expected, number(least=0, most=1).expected
    ('a number between 0 and 1', 'a number from 0 to 1')
    >>> number(above=0, below=1).parse("0.05")
    0.05
    """
    low, high = above if least is None else least, below if most is None else most
    lowest, highest = -math.inf if low is None else low, math.inf if high is None else high

    def parse(given: Any) -> float:
        value = float(to_number(given))
        if not (lowest <= value <= highest and math.isfinite(value)):
            raise ValueError
        if value in (above, below):
            raise ValueError
        return value

    words = ""
    if above is not None and below is not None:
        words = f" between {above:g} and {below:g}"
    elif least is not None:
        words = f" from {least:g}" + ("" if most is None else f" to {most:g}")
        words += "" if below is None else f", below {below:g}"
    elif above is not None:
        words = f" above {above:g}" + ("" if most is None else f", up to {most:g}")
    return Kind(parse, f"a number{words}", "NUMBER")


def one_of(*words: str) -> Kind:
    """One of some words.

    >>> one_of("fail", "pass").expected
    "'fail' or 'pass'"
    """

    def parse(given: Any) -> str:
        if not (isinstance(given, str) and given in words):
            raise ValueError
        return str(given)

    quoted = [f"'{word}'" for word in words]
    expected = " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))
    return Kind(parse, expected, "|".join(words))


def share_or_users() -> Kind:
    """A share of users below 1 or a number of users from 1, as one number.

    >>> kind = share_or_users()
    >>> kind.parse("1%"), kind.parse("0.001"), kind.parse(50)
    (0.01, 0.001, 50.0)
    """

    def parse(given: Any) -> float:
        if isinstance(given, str) and given.strip().endswith("%"):
            share = percentage(given)
            if share >= 1:
                raise ValueError
            return share
        value = float(to_number(given))
        if not (0 < value < math.inf and (value < 1 or value == int(value))):
            raise ValueError
        return value

    return Kind(
        parse,
        "a share between 0 and 1 (0.001), a percentage (1%) or a number of users (50)",
        "SHARE|N",
    )


def share(*, above: float | None = None, most: float = 1) -> Kind:
    """A share from 0 to 1, or a percentage.

    >>> share().parse("5%"), share().parse(0.05)
    (0.05, 0.05)
    >>> share(above=0, most=0.5).expected
    'a share above 0, up to 0.5 (0.05) or a percentage (5%)'
    """
    plain_share = number(least=0 if above is None else None, above=above, most=most)

    def parse(given: Any) -> float:
        if isinstance(given, str) and given.strip().endswith("%") and given.strip("% ") != "0":
            return float(plain_share.parse(percentage(given)))
        return float(plain_share.parse(given.strip("% ") if isinstance(given, str) else given))

    expected = plain_share.expected.replace("a number", "a share", 1)
    return Kind(parse, f"{expected} (0.05) or a percentage (5%)", "SHARE")


def memory_size() -> Kind:
    """An amount of memory in bytes, or with its unit.

    >>> kind = memory_size()
    >>> kind.parse("4GB"), kind.parse("1.5 GiB"), kind.parse(5e8)
    (4000000000, 1610612736, 500000000)
    """

    def parse(given: Any) -> int:
        found = re.fullmatch(r"\s*([\d.,]+)\s*([kmgt]i?)b\s*", str(given), re.IGNORECASE)
        power = "kmgt".index(found[2][0].lower()) + 1 if found else 0
        unit = (1024 if found and found[2][1:] else 1000) ** power
        n_bytes = to_number(found[1] if found else given) * unit
        if not LEAST_MEMORY <= n_bytes < 10**18:
            raise ValueError
        return int(n_bytes)

    return Kind(parse, "an amount of memory from 500 MB (4GB)", "SIZE")


def pairs(
    value: Callable[[Any], Any], expected: str, metavar: str = "NAME=VALUE", between: str = "="
) -> Kind:
    """Values by name: a mapping from Python, `name=value` as text.

    >>> pairs(float, "name=number").parse("alpha=0.1, beta=2")
    {'alpha': 0.1, 'beta': 2.0}
    """

    def parse(given: Any) -> dict[str, Any]:
        if not isinstance(given, str | Mapping):
            raise UnfitError(given)
        found = {}
        for name, text in pairs_in(given, between).items():
            try:
                found[name] = value(text)
            except (TypeError, ValueError):
                raise UnfitError(f"{name}{between}{text}") from None
        return found

    return Kind(parse, expected, metavar, is_list=True)


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError
    return given


def _path(given: Any) -> Path:
    return Path(given)


def _switch(given: Any) -> bool:
    if not isinstance(given, bool):
        raise ValueError
    return given


def _names(given: Any) -> tuple[str, ...]:
    return tuple(names_in(given))


TEXT = Kind(_text, "text")
NAME = Kind(_text, "a name", "NAME")
FILE = Kind(_path, "a path", "FILE", is_path=True)
FOLDER = Kind(_path, "a path", "FOLDER", is_path=True)
TABLE = Kind(
    lambda given: Path(given) if isinstance(given, str) else given, "a table", "FILE", is_path=True
)
SWITCH = Kind(_switch, "True or False", is_switch=True)
NAMES = Kind(_names, "names, with commas between them", "NAMES", is_list=True)


def to_number(given: Any) -> int | float:
    """A number, or the number a text says; whole ones with commas between thousands.

    >>> to_number("1,000"), to_number("0.5")
    (1000, 0.5)
    """
    if isinstance(given, str):
        text = given.strip()
        text = text.replace(",", "") if _THOUSANDS.fullmatch(text) else text
        try:
            return int(text)
        except ValueError:
            return float(text)
    if isinstance(given, bool) or not isinstance(given, Real):
        raise TypeError
    return int(given) if isinstance(given, Integral) else float(given)


def percentage(text: str) -> float:
    """The share that a percentage above 0% and up to 100% says.

    >>> percentage("10%"), percentage("0.5 %")
    (0.1, 0.005)
    """
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*%", text.strip())
    if found is None or not 0 < float(found[1]) <= 100:
        raise ValueError
    return float(found[1]) / 100
