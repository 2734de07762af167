"""What an Arrow file says of its buffers, looked at before it is read: see `packed`.

It says so in tables of FlatBuffers: a table begins with how far before it stands the list of the
places of its fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from fairrec.core.errors import InputError, plain
from fairrec.core.packed import LZ4, ZSTD, ContradictionError, refuse_swollen

_MAGIC = b"ARROW1"
_ENDS = 10
"""Bytes after the footer: its length and the magic ones."""
_TIMES = {0: LZ4, 1: ZSTD}
"""By the number of a codec."""
_INT, _LONG = struct.Struct("<i"), struct.Struct("<q")
_BLOCK, _NODE, _BUFFER = struct.Struct("<qi4xq"), struct.Struct("<qq"), struct.Struct("<qq")
_CONTINUES = b"\xff\xff\xff\xff"

# fields, as Message.fbs and File.fbs number them
_DICTIONARIES, _BATCHES = 2, 3
_HEADER_KIND, _HEADER, _DICTIONARY_KIND, _BATCH_KIND = 1, 2, 2, 3
_OF_DICTIONARY = 1
_LENGTH, _NODES, _BUFFERS, _COMPRESSION = 0, 1, 2, 3


def check_arrow(stream: BinaryIO, where: str, fix: str) -> None:
    """Refuse an Arrow file whose buffers are beyond its end, or larger than they can be.

    Parameters
    ----------
    where : its name in messages
    fix : what to do where it is damaged
    """
    try:
        size = stream.seek(0, 2)
        for at, n_said, n_body in _blocks(stream, size):
            if min(at, n_said, n_body) < 0 or at + n_said + n_body > size:
                raise ContradictionError("rows are said to be beyond its end")
            _check_batch(stream, at, n_said, n_body)
    except (ContradictionError, struct.error) as error:
        why = "it goes on beyond its end" if isinstance(error, struct.error) else error
        raise InputError(f"{where}: cannot be read as Arrow ({plain(why)}). {fix}") from error


def _blocks(stream: BinaryIO, size: int) -> Iterator[tuple[int, ...]]:
    """Where each batch begins, how long it is told what is in it, and how long that is."""
    ends = _bytes(stream, max(0, size - _ENDS), _ENDS)
    if _bytes(stream, 0, len(_MAGIC)) != _MAGIC or ends[4:] != _MAGIC:
        raise ContradictionError("it does not begin and end as one")
    (length,) = _INT.unpack(ends[:4])
    if not 0 < length <= size - _ENDS:
        raise ContradictionError("its footer is said to be longer than the file")
    footer = _Table(_bytes(stream, size - _ENDS - length, length))
    for number in (_DICTIONARIES, _BATCHES):
        yield from footer.structs(number, _BLOCK)


def _check_batch(stream: BinaryIO, at: int, n_said: int, n_body: int) -> None:
    said = _bytes(stream, at, n_said)
    # older writers leave the mark out
    message = _Table(said[8:] if said.startswith(_CONTINUES) else said[4:])
    kind = message.byte(_HEADER_KIND)
    batch = message.table(_HEADER)
    if kind == _DICTIONARY_KIND and batch is not None:
        batch = batch.table(_OF_DICTIONARY)
    elif kind != _BATCH_KIND:
        raise ContradictionError("rows are said to be where there are none")
    if batch is None:
        raise ContradictionError("rows are said to be where there are none")
    if batch.long(_LENGTH) < 0 or any(
        not 0 <= n_nulls <= length for length, n_nulls in batch.structs(_NODES, _NODE)
    ):
        raise ContradictionError("a number of rows is below zero, or of fewer than are empty")
    compression = batch.table(_COMPRESSION)
    times = None if compression is None else _TIMES.get(compression.byte(0))
    for start, length in batch.structs(_BUFFERS, _BUFFER):
        if min(start, length) < 0 or start + length > n_body:
            raise ContradictionError("values are said to be beyond its end")
        if compression is not None and length:
            (unpacked,) = _LONG.unpack(_bytes(stream, at + n_said + start, _LONG.size))
            # -1 says that it is not packed
            if unpacked < -1:
                raise ContradictionError("a number of bytes is below zero")
            refuse_swollen(length, unpacked, times)


class _Table:
    """A table of FlatBuffers; a place beyond the bytes is a `struct.error`."""

    def __init__(self, data: bytes, at: int | None = None) -> None:
        self._data = data
        self._at = self._int(0) if at is None else at
        self._fields = self._at - self._int(self._at)

    def byte(self, number: int) -> int:
        at = self._place(number)
        return 0 if at is None else self._data[at]

    def long(self, number: int) -> int:
        at = self._place(number)
        return 0 if at is None else int(_LONG.unpack_from(self._data, at)[0])

    def table(self, number: int) -> _Table | None:
        at = self._place(number)
        return None if at is None else _Table(self._data, at + self._int(at))

    def structs(self, number: int, kind: struct.Struct) -> Iterator[tuple[int, ...]]:
        """The structs of a list; there is none where there is no field."""
        at = self._place(number)
        if at is None:
            return iter(())
        at += self._int(at)
        length, start = self._int(at), at + _INT.size
        piece = self._data[start : start + max(0, length) * kind.size]
        if length < 0 or len(piece) < length * kind.size:
            raise ContradictionError("it goes on beyond its end")
        return kind.iter_unpack(piece)

    def _place(self, number: int) -> int | None:
        """Where a field is, if it is there."""
        size = self._short(self._fields)
        place = 4 + 2 * number
        at = self._short(self._fields + place) if place < size else 0
        if not at:
            return None
        if self._at + at >= len(self._data):
            raise ContradictionError("it goes on beyond its end")
        return self._at + at

    def _short(self, at: int) -> int:
        return int.from_bytes(self._checked(at, 2), "little")

    def _int(self, at: int) -> int:
        return int(_INT.unpack(self._checked(at, _INT.size))[0])

    def _checked(self, at: int, size: int) -> bytes:
        if at < 0:
            raise ContradictionError("it goes on before its beginning")
        return self._data[at : at + size]


def _bytes(stream: BinaryIO, at: int, length: int) -> bytes:
    stream.seek(at)
    return stream.read(length)
