"""A reader of Thrift's compact protocol, in which Parquet files say what is where.

Whatever the bytes are, it ends: nothing is taken for longer than the bytes that are left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from fairrec.core.packed import ContradictionError

Struct: TypeAlias = dict[int, Any]
"""Values by the number of their field: whole numbers, bytes, lists, structs, true and false."""

DEEPEST = 24
"""Structs and lists within each other; those of Parquet are some eight."""
_TRUE, _FALSE, _BYTE = 1, 2, 3
_DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = range(7, 14)
_INTEGERS, _FLAGS = frozenset((4, 5, 6)), frozenset((_TRUE, _FALSE))
_LONGEST = 70
"""Bits of a number that may be shifted in."""


class ThriftError(ContradictionError):
    """Bytes that are no struct."""


class CutShortError(ThriftError):
    """A struct that goes on beyond the bytes."""


def read_struct(data: bytes, at: int = 0) -> tuple[Struct, int]:
    """The struct that begins there, and where it ends."""
    try:
        return _struct(data, at, 0)
    except IndexError as error:
        raise CutShortError("it goes on beyond its end") from error


def _struct(data: bytes, at: int, depth: int) -> tuple[Struct, int]:
    if depth > DEEPEST:
        raise ThriftError("parts are within parts without end")
    fields: Struct = {}
    number = 0
    while head := data[at]:
        at += 1
        step, kind = head >> 4, head & 15
        if step:
            number += step
        else:
            number, at = _integer(data, at)
        if kind in _INTEGERS:
            # as in `_integer`, written out for speed: most values are numbers
            value, shift = data[at], 7
            at += 1
            if value > 127:
                value &= 127
                while (more := data[at]) > 127 and shift < _LONGEST:
                    value |= (more & 127) << shift
                    shift += 7
                    at += 1
                if shift >= _LONGEST:
                    raise ThriftError("a number has no end")
                value |= more << shift
                at += 1
            fields[number] = (value >> 1) ^ -(value & 1)
        elif kind in _FLAGS:
            # in the head itself, unlike one in a list
            fields[number] = kind == _TRUE
        elif kind == _BINARY and (length := data[at]) < 128 and at + length < len(data):
            fields[number] = data[at + 1 : at + 1 + length]
            at += 1 + length
        else:
            fields[number], at = _value(data, at, kind, depth)
    return fields, at + 1


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    if byte < 128:
        return byte, at + 1
    number, shift = byte & 127, 7
    while True:
        at += 1
        byte = data[at]
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at + 1
        shift += 7
        if shift >= _LONGEST:
            raise ThriftError("a number has no end")


def _integer(data: bytes, at: int, _: int = 0) -> tuple[int, int]:
    number, at = _unsigned(data, at)
    return (number >> 1) ^ -(number & 1), at


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind not in _READERS:
        raise ThriftError(f"a value is of the unknown kind {kind}")
    return _READERS[kind](data, at, depth + 1)


def _binary(data: bytes, at: int, _: int) -> tuple[bytes, int]:
    length, at = _unsigned(data, at)
    return _bytes(data, at, length)


def _bytes(data: bytes, at: int, length: int) -> tuple[bytes, int]:
    stop = at + length
    if stop > len(data):
        raise CutShortError("it goes on beyond its end")
    return data[at:stop], stop


def _list(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    head = data[at]
    n, at = head >> 4, at + 1
    if n == 15:
        n, at = _unsigned(data, at)
    _refuse_longer(n, data, at, depth)
    kind = head & 15
    if kind not in _READERS:
        raise ThriftError(f"a value is of the unknown kind {kind}")
    read, found = _READERS[kind], []
    for _ in range(n):
        value, at = read(data, at, depth + 1)
        found.append(value)
    return found, at


def _map(data: bytes, at: int, depth: int) -> tuple[list[tuple[Any, Any]], int]:
    """As pairs: what is no text or number could not be looked up."""
    n, at = _unsigned(data, at)
    _refuse_longer(n, data, at, depth)
    if not n:
        return [], at
    kinds, at = data[at], at + 1
    found = []
    for _ in range(n):
        key, at = _value(data, at, kinds >> 4, depth)
        value, at = _value(data, at, kinds & 15, depth)
        found.append((key, value))
    return found, at


def _refuse_longer(n: int, data: bytes, at: int, depth: int) -> None:
    """Each value takes a byte at least."""
    if n > len(data) - at:
        raise CutShortError("it goes on beyond its end")
    if depth > DEEPEST:
        raise ThriftError("parts are within parts without end")


_READERS: dict[int, Callable[[bytes, int, int], tuple[Any, int]]] = {
    **dict.fromkeys((*_FLAGS, _BYTE), lambda data, at, _: (data[at], at + 1)),
    **dict.fromkeys(_INTEGERS, _integer),
    _DOUBLE: lambda data, at, _: _bytes(data, at, 8),
    _UUID: lambda data, at, _: _bytes(data, at, 16),
    _BINARY: _binary,
    _LIST: _list,
    _SET: _list,
    _MAP: _map,
    _STRUCT: _struct,
}
