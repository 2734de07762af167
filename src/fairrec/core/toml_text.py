"""Data as TOML, which the standard library reads and does not write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_LIST = 100


def to_toml(content: Mapping[str, Any]) -> str:
    r"""The TOML of text, numbers, true and false, and lists and tables of these.

    The same content in the same order gives the same text.

    >>> print(to_toml({"by": ["gender", "age:10"], "columns": {"user id": "uid"}, "alpha": 0.05}))
    by = ["gender", "age:10"]
    alpha = 0.05
    <BLANKLINE>
    [columns]
    "user id" = "uid"
    <BLANKLINE>
    """
    return "\n".join(_lines(content, ())) + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """What a table holds itself, then the tables in it, as a heading ends what comes before."""
    for name, value in table.items():
        if not isinstance(value, Mapping):
            yield f"{_key(name)} = {_value(value)}"
    for name, value in table.items():
        if isinstance(value, Mapping):
            inner = (*path, name)
            if not value or not all(isinstance(part, Mapping) for part in value.values()):
                yield from ("", f"[{'.'.join(map(_key, inner))}]")
            yield from _lines(value, inner)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = (f"{_key(name)} = {_value(part)}" for name, part in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        parts = [_value(part) for part in value]
        joined = f"[{', '.join(parts)}]"
        if len(joined) <= _LONGEST_LIST and "\n" not in joined:
            return joined
        return "".join(["[\n", *(f"    {part},\n" for part in parts), "]"])
    raise TypeError(f"{type(value).__name__} has no place in a settings file")


def _text(text: str) -> str:
    # as in JSON, where a DEL may stand as it is
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
