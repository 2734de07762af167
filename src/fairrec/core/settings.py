"""Options in a TOML file: read by the kinds that read them everywhere else, and written.

A plan is such a file with a table `plan` that says what it was frozen with, and a checksum over
all it holds.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairrec.core.errors import FairRecError, InputError, UnknownNameError, plain, unknown_name
from fairrec.core.files import file_bytes
from fairrec.core.options import Option, invalid

SETTINGS_FILE = "fairrec.toml"
"""The settings that are found where a command runs."""
AUDIT = "audit"
"""The table with the options of an audit; they may also stand at the top, as plans have them."""
PLAN = "plan"
"""The table of a file that is frozen."""
POLICY = ("rule", "require")
"""The tables that are the gate's."""
CHECKSUM = "checksum"
ARGUMENT = "predictions"
"""What is audited is named with the command, not in a file."""

MOST_BYTES = 256 * 1024
_MOST_DOTS = 200
"""On one line. The time to read a key grows with the square of its dots: half a minute for
64 KB of them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A settings file as it was read.

    Parameters
    ----------
    sha256 : of the file
    content : all it holds
    values : the options it sets, by name; paths are those from its folder
    """

    file: Path
    sha256: str
    content: Mapping[str, Any]
    values: Mapping[str, Any]

    @property
    def where(self) -> str:
        """The file, for errors."""
        return plain(self.file, 300)

    @property
    def frozen(self) -> Mapping[str, Any] | None:
        """What it was frozen with; None where it is no plan."""
        return self.content.get(PLAN)


def read_settings(file: str | Path, known: Mapping[str, Option]) -> Settings:
    """The options that a file sets.

    Parameters
    ----------
    known : the options it may set, by name
    """
    file = Path(file)
    where = plain(file, 300)
    # no more than is looked at
    data = file_bytes(file, MOST_BYTES + 1)
    content = parsed_toml(data, where)
    values = {}
    for name, given in _options_in(content, where).items():
        if name == ARGUMENT:
            raise UnknownNameError(
                f"{where}: '{name}' is an argument of the audit and no setting. Leave it out here, "
                "and name the table where the audit is run: fairrec audit PREDICTIONS"
            )
        if name not in known:
            raise UnknownNameError(f"{where}: {unknown_name('setting', name, known)}")
        values[name] = _value_of(name, given, known[name], file, where)
    return Settings(file, hashlib.sha256(data).hexdigest(), content, values)


def _options_in(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The options of an audit, wherever they stand."""
    for name, words in (
        (PLAN, "a table, as fairrec plan writes it"),
        (AUDIT, "a table of options"),
    ):
        if not isinstance(content.get(name, {}), dict):
            raise invalid(name, words, content[name], where)
    of_audit = content.get(AUDIT, {})
    at_top = {name: part for name, part in content.items() if name not in (PLAN, AUDIT, *POLICY)}
    if twice := next((name for name in at_top if name in of_audit), None):
        raise InputError(
            f"{where}: {plain(twice)} is set twice, at the top and under [{AUDIT}]. Leave one."
        )
    return {**at_top, **of_audit}


def checksum_of(content: Mapping[str, Any]) -> str:
    """The SHA-256 checksum of all that a plan says but the checksum itself.

    Comments, blanks and the order of keys say nothing.

    >>> frozen = {"alpha": 0.05, "plan": {"n_users": 7}}
    >>> checksum_of(frozen) == checksum_of({"plan": {"checksum": "x", "n_users": 7}, "alpha": 0.05})
    True
    """
    said = {name: value for name, value in content.get(PLAN, {}).items() if name != CHECKSUM}
    # what JSON does not know, such as a date, is no part of a plan; it must not go unseen either
    text = json.dumps({**content, PLAN: said}, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def parsed_toml(data: bytes, where: str) -> dict[str, Any]:
    """The content of a TOML file; an error in words where it is none."""
    if len(data) > MOST_BYTES:
        raise InputError(
            f"{where}: has more than {MOST_BYTES // 1024} KiB, so it is no settings file and no "
            "plan. Name another one."
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in data and not data.startswith((BOM_UTF16_BE, BOM_UTF16_LE)):
            raise InputError(
                f"{where}: is no text, so it is no settings file and no plan. Name one: NAME.toml"
            ) from error
        raise InputError(
            f"{where}: is not UTF-8 (byte {error.start + 1:,}). Save it as UTF-8."
        ) from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MOST_DOTS:
            raise InputError(f"{where}: line {number:,} has more than {_MOST_DOTS} dots. Split it.")
    try:
        return tomllib.loads(text)
    # also for whole numbers of thousands of digits, and lists in lists in lists
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{where}: is no TOML ({plain(error, 300)}). A setting is a line such as alpha = 0.05 "
            'or by = ["gender", "age:10"].'
        ) from error


def _value_of(name: str, given: Any, option: Option, file: Path, where: str) -> Any:
    if option.kind.is_path:
        if not (isinstance(given, str) and given.strip() and "\0" not in given):
            raise invalid(name, "a path, from the folder of this file", given, where)
        return option.parsed(name, str(file.parent / given), where)
    if isinstance(given, dict):
        pairs = [*_pairs(given)]
        given = dict(pairs)
        if len(given) < len(pairs):
            twice = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
            raise invalid(name, "each name once", twice, where)
    if isinstance(given, list) and option.kind.is_list and all(isinstance(x, str) for x in given):
        # where the option itself reads no lists, it is the same joined by commas
        with suppress(FairRecError):
            return option.parsed(name, given, where)
        given = ",".join(given)
    return option.parsed(name, given, where)


def _pairs(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """A table without tables in it: `items.categories` is one name, with quotes or without."""
    for name, value in table.items():
        if isinstance(value, dict) and value:
            yield from _pairs(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


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
