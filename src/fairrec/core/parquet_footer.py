"""What a Parquet file says of itself, looked at before it is read.

A reader makes room for what a file promises. One damaged byte can promise more than any machine
has, and the process ends without a word of ours. What is refused here is contradictory in itself;
a file that only says much in few bytes, such as a billion equal values, is not.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO, NamedTuple, TypeVar

from fairrec.core.errors import InputError, plain
from fairrec.core.packed import GZIP, LZ4, SNAPPY, ZSTD, ContradictionError, refuse_swollen
from fairrec.core.thrift import CutShortError, Struct, read_struct

_MAGIC = b"PAR1"
_ENDS = 8
"""Bytes after the footer: its length and the magic ones."""
_HEADER, _LONGEST_HEADER = 1 << 7, 1 << 24
"""Bytes that the header of a page may have: read at first, and at most."""

# numbers of fields and values, as parquet.thrift names them
_SCHEMA, _N_ROWS, _GROUPS = 2, 3, 4
_REPETITION, _NAME, _REPEATED = 3, 4, 2
_COLUMNS, _GROUP_ROWS = 1, 3
_ELSEWHERE, _META = 1, 3
_PATH, _CODEC, _N_VALUES, _PACKED, _PAGES_AT, _DICTIONARY_AT = 3, 4, 5, 7, 9, 11
_KIND, _UNPACKED_SIZE, _SIZE, _CRC = 1, 2, 3, 4
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_2 = 0, 2, 3
_OF_KIND = {_DATA_PAGE: 5, _DICTIONARY_PAGE: 7, _DATA_PAGE_2: 8}
"""The field with the header of a page of each kind, which begins with its number of values."""

_T = TypeVar("_T")
_TIMES = {0: 1, 1: SNAPPY, 2: GZIP, 5: LZ4, 6: ZSTD, 7: LZ4}
"""By the number of a codec; nothing is known of others."""


class _Chunk(NamedTuple):
    """The pages of a column in a group of rows."""

    column: str
    start: int
    stop: int
    n_values: int
    codec: int | None


class CheckedParquet:
    """A Parquet file whose footer contradicts neither itself nor the size of the file.

    Parameters
    ----------
    where : its name in messages
    fix : what to do where it is damaged
    """

    def __init__(self, stream: BinaryIO, where: str, fix: str) -> None:
        self._where, self._fix = where, fix
        try:
            footer, self._footer_at = _footer(stream)
            self._chunks = tuple(_chunks(footer, self._footer_at))
        except ContradictionError as error:
            raise self._damaged(error) from error

    @property
    def columns(self) -> set[str]:
        """The names of columns that have pages."""
        return {chunk.column for chunk in self._chunks}

    def check_pages(self, stream: BinaryIO, columns: Collection[str] | None = None) -> None:
        """Refuse pages of these columns, or of all, that contradict the footer or their checksums.

        Not every writer gives pages checksums; those that are there have to be right.
        """
        for chunk in self._chunks:
            if columns is None or chunk.column in columns:
                try:
                    _check_pages(stream, chunk, self._footer_at)
                except ContradictionError as error:
                    raise self._damaged(error, _of_column(chunk.column)) from error

    def _damaged(self, error: Exception, place: str = "") -> InputError:
        return InputError(
            f"{self._where}: cannot be read as Parquet ({plain(error)}{place}). {self._fix}"
        )


def _footer(stream: BinaryIO) -> tuple[Struct, int]:
    """The footer, and where it begins."""
    size = stream.seek(0, 2)
    stream.seek(0)
    beginning = stream.read(len(_MAGIC))
    stream.seek(max(0, size - _ENDS))
    ends = stream.read(_ENDS)
    if size < len(_MAGIC) + _ENDS or beginning != _MAGIC or ends[4:] != _MAGIC:
        raise ContradictionError("it does not begin and end as one")
    length = int.from_bytes(ends[:4], "little")
    at = size - _ENDS - length
    if at < len(_MAGIC):
        raise ContradictionError("its footer is said to be longer than the file")
    return read_struct(_bytes(stream, at, length))[0], at


def _chunks(footer: Struct, end: int) -> Iterator[_Chunk]:
    schema = _all(footer, _SCHEMA, dict)
    repeated = {_optional(one, _NAME, bytes) for one in schema if one.get(_REPETITION) == _REPEATED}
    n_rows, n_found = _count(footer, _N_ROWS, "rows"), 0
    for group in _all(footer, _GROUPS, dict):
        n_of_group = _count(group, _GROUP_ROWS, "rows")
        n_found += n_of_group
        for column in _all(group, _COLUMNS, dict):
            # what is in another file, nobody reads
            if _ELSEWHERE not in column:
                yield _chunk(_struct(column, _META), end, n_of_group, repeated)
    if n_found != n_rows:
        raise ContradictionError(
            f"it has {n_rows:,} rows in all and {n_found:,} in its groups of rows"
        )


def _chunk(meta: Struct, end: int, n_rows: int, repeated: Collection[bytes | None]) -> _Chunk:
    path = _all(meta, _PATH, bytes)
    name = path[0].decode("utf-8", "replace") if path else ""
    n_values = _count(meta, _N_VALUES, "values")
    # a column that is not within another has a value a row, or none
    if len(path) == 1 and path[0] not in repeated and n_values > n_rows:
        raise ContradictionError(
            f"{n_values:,} values are said to be in {n_rows:,} rows{_of_column(name)}"
        )
    start = _count(meta, _PAGES_AT, "bytes")
    if meta.get(_DICTIONARY_AT):  # some writers say 0 where there is none
        start = min(start, _count(meta, _DICTIONARY_AT, "bytes"))
    stop = start + _count(meta, _PACKED, "bytes")
    if stop > end:
        raise ContradictionError(f"values are said to be beyond its end{_of_column(name)}")
    return _Chunk(name, start, stop, n_values, _optional(meta, _CODEC, int))


def _of_column(name: str) -> str:
    return f" in the column {plain(repr(name))}"


def _check_pages(stream: BinaryIO, chunk: _Chunk, end: int) -> None:
    at, n_left = chunk.start, chunk.n_values
    while n_left > 0 and at < chunk.stop:
        header, at = _page_header(stream, at)
        size = _count(header, _SIZE, "bytes")
        unpacked = _count(header, _UNPACKED_SIZE, "bytes")
        if at + size > end:
            raise ContradictionError("a page is said to be beyond its end")
        refuse_swollen(size, unpacked, None if chunk.codec is None else _TIMES.get(chunk.codec))
        n_left -= _values_of(header, n_left, unpacked)
        crc = _optional(header, _CRC, int)
        if crc is not None and zlib.crc32(_bytes(stream, at, size)) != crc & 0xFFFFFFFF:
            raise ContradictionError("a page is not as its checksum says")
        at += size


def _values_of(header: Struct, n_left: int, unpacked: int) -> int:
    """How many values of the column a page has; a dictionary has none of them."""
    kind = _optional(header, _KIND, int)
    if kind not in _OF_KIND:
        return 0
    n_values = _count(_struct(header, _OF_KIND[kind]), 1, "values")
    most = unpacked if kind == _DICTIONARY_PAGE else n_left
    if n_values > most:
        raise ContradictionError(
            f"a page is said to have {n_values:,} values, more than there can be"
        )
    return 0 if kind == _DICTIONARY_PAGE else n_values


def _page_header(stream: BinaryIO, at: int) -> tuple[Struct, int]:
    """The header of the page that begins there, and where it ends; statistics may make it long."""
    length = _HEADER
    while True:
        data = _bytes(stream, at, length)
        try:
            header, n_read = read_struct(data)
        except CutShortError:
            if len(data) < length or length >= _LONGEST_HEADER:
                raise
            length *= 8
        else:
            return header, at + n_read


def _bytes(stream: BinaryIO, at: int, length: int) -> bytes:
    stream.seek(at)
    return stream.read(length)


def _count(struct: Struct, number: int, of_what: str) -> int:
    found = struct.get(number)
    if not isinstance(found, int) or found < 0:
        raise ContradictionError(f"a number of {of_what} is missing or below zero")
    return found


def _all(struct: Struct, number: int, kind: type) -> list[Any]:
    found = struct.get(number)
    if not isinstance(found, list) or not all(isinstance(one, kind) for one in found):
        raise ContradictionError("a part of its footer is missing")
    return found


def _optional(struct: Struct, number: int, kind: type[_T]) -> _T | None:
    """A value that need not be there; one of another kind cannot be compared or looked up."""
    found = struct.get(number)
    if found is not None and not isinstance(found, kind):
        raise ContradictionError("a part of its footer is of another kind")
    return found


def _struct(struct: Struct, number: int) -> Struct:
    found = struct.get(number)
    if not isinstance(found, dict):
        raise ContradictionError("a part of its footer is missing")
    return found
