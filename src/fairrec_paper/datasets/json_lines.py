"""Files of one JSON record a line, plain or compressed."""

from __future__ import annotations

import ast
import gzip
import json
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from fairrec.core.errors import InputError
from fairrec.core.progress import Progress
from fairrec_paper.datasets.raw_table import FIX

TELL_EVERY = 20_000
LARGEST = 2**53
"""Numbers from here on are not exact, and no rating, time or price is as large."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line: its fields, and where it stands for messages."""

    fields: dict[str, Any]
    where: str

    def text(self, key: str) -> str:
        """A field that must be text."""
        value = self.fields.get(key)
        if not isinstance(value, str) or not value:
            raise self._fault(key, "text")
        return clean(value)

    def number(self, key: str) -> float:
        """A field that must be a number."""
        value = self.fields.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        # false for NaN too
        if not (is_number and abs(cast("float", value)) < LARGEST):
            raise self._fault(key, "a number")
        return cast("float", value)

    def _fault(self, key: str, kind: str) -> InputError:
        if key not in self.fields:
            problem = f"no '{key}'; fields here: {', '.join(map(repr, list(self.fields)[:12]))}"
        else:
            problem = f"{key} {self.fields[key]!r:.80} is not {kind}"
        return InputError(f"{self.where}: {problem}. {FIX}")


def clean(text: str) -> str:
    """The text with '?' for halves of characters, which JSON can spell but no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_records(path: Path, progress: Progress) -> Iterator[Record]:
    """The records of a file, one at a time; a name ending in .gz is decompressed on the way."""
    size, number = path.stat().st_size, 0
    with path.open("rb") as file:
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if path.suffix == ".gz" else file
        try:
            for number, line in enumerate(stream, 1):
                if number % TELL_EVERY == 1:
                    progress(f"reading {path.name}", file.tell(), size)
                if not line.isspace():
                    yield _record(line, f"{path.name}, line {number}")
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"{path.name}, line {number + 1}: the compressed file breaks off or is damaged "
                f"here ({error}). Download it again."
            ) from error


def _record(line: bytes, where: str) -> Record:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: holds the byte 0x{line[error.start]:02x}, which is not UTF-8. "
            "Get the publisher's file again."
        ) from error
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = _python_literal(text)
    if not isinstance(fields, dict):
        raise InputError(f"{where}: {text.strip()!r:.80} is not a JSON record. {FIX}")
    return Record(fields, where)


def _python_literal(text: str) -> object:
    """What a line of the older files holds, which are written as Python values; None if nothing.

    Only literals are read: nothing in the line is run.
    """
    try:
        with warnings.catch_warnings():
            # odd escapes in descriptions are of no interest
            warnings.simplefilter("ignore")
            return cast("object", ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
