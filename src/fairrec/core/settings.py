"""Options in a TOML file: read by the types that read them everywhere else, and written.

A plan is such a file with a table `plan` of what it was frozen with, and a checksum over
all it holds.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairrec.core.errors import InputError, UnknownNameError, plain, unknown_name
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
    data = file_bytes(file)
    content = parse_toml(data, where)
    beside = (PLAN, AUDIT, *POLICY)
    at_top = {name: part for name, part in content.items() if name not in beside}
    values = {}
    for name, given in {**at_top, **content.get(AUDIT, {})}.items():
        if name not in known:
            raise UnknownNameError(f"{where}: {unknown_name('setting', name, known)}")
        values[name] = _parse(name, given, known[name], file, where)
    return Settings(file, hashlib.sha256(data).hexdigest(), content, values)


def compute_checksum(content: Mapping[str, Any]) -> str:
    """The SHA-256 checksum of all that a plan holds but the checksum itself.

    Comments, blanks and the order of keys change nothing.

    >>> frozen = {"alpha": 0.05, "plan": {"n_users": 7}}
    >>> other = {"plan": {"checksum": "x", "n_users": 7}, "alpha": 0.05}
    >>> compute_checksum(frozen) == compute_checksum(other)
    True
    """
    plan = {name: value for name, value in content.get(PLAN, {}).items() if name != CHECKSUM}
    # what JSON does not know, such as a date, is no part of a plan; it must not go unseen either
    text = json.dumps({**content, PLAN: plan}, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def parse_toml(data: bytes, where: str) -> dict[str, Any]:
    """The content of a TOML file; an error in words where it is none."""
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    # also for what is not UTF-8
    except ValueError as error:
        raise InputError(
            f"{where}: is no TOML ({plain(error, 300)}). A setting is a line such as alpha = 0.05 "
            'or by = ["gender", "age:10"].'
        ) from error


def _parse(name: str, given: Any, option: Option, file: Path, where: str) -> Any:
    if option.form.is_path:
        if not (isinstance(given, str) and given.strip()):
            raise invalid(name, "a path, from the folder of this file", given, where)
        given = str(file.parent / given)
    if isinstance(given, dict):
        given = dict(_flatten(given))
    return option.parse(name, given, where)


def _flatten(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """A table without tables in it: `items.categories` is one name, with quotes or without."""
    for name, value in table.items():
        if isinstance(value, dict) and value:
            yield from _flatten(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value
