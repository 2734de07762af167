"""The files beside an ONNX file that hold its weights.

A tensor of an ONNX model may say where its numbers are instead of holding them. Here the file is
read just far enough to find that out, because onnxruntime does not tell and the package `onnx` is
not needed otherwise.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from pathlib import Path

from fairrec.core.errors import plain

_PARTS = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse tensor"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {
        5: "tensor",
        6: "graph",
        10: "tensor",
        11: "graph",
        22: "sparse tensor",
        23: "sparse tensor",
    },
    "sparse tensor": {1: "tensor", 2: "tensor"},
    "tensor": {13: "external data"},
}
"""Which fields of a message hold messages with tensors in them, by the numbers of onnx.proto."""
_KEY, _VALUE = 1, 2
_VARINT, _EIGHT_BYTES, _WITH_LENGTH, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST_VARINT = 10
_END_OF_TAGS = 2**32
_ORT_ENDING, _ORT_MARK = ".ort", b"ORTM"
"""Of onnxruntime's own form, which has all weights inside. It is told by the ending: the bytes of
the mark may stand in any model."""


def side_files(file: Path) -> tuple[str, ...]:
    """Where the weights outside a model's file are, as it says: from its folder, each once, sorted.

    A ValueError where the file is no ONNX model.
    """
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if file.suffix.lower() == _ORT_ENDING and data[4:8] == _ORT_MARK:
            return ()
        try:
            return tuple(sorted(set(_locations(data, "model", 0, len(data)))))
        except RecursionError as error:
            raise ValueError("graphs within graphs without end") from error


def refuse_outside(file: Path, names: Iterable[str]) -> None:
    """A ValueError where weights are to be taken from elsewhere than the folder of the model.

    A model file is somebody else's, and any file of this machine could be read as numbers by it.
    Where the model is a link, as in caches, the folder that it leads to is its folder too.
    """
    homes = (file.parent.resolve(), file.resolve().parent)
    for name in names:
        # what onnxruntime takes for an address in memory stands between stars
        if Path(name).is_absolute() or ".." in Path(name).parts or "*" in name:
            raise ValueError(f"weights in '{plain(name)}', which is not in the model's folder")
        beside = (file.parent / name).resolve()
        if not any(beside.is_relative_to(home) for home in homes):
            raise ValueError(f"weights in '{plain(name)}', a link out of the model's folder")


def _locations(data: mmap.mmap, kind: str, start: int, stop: int) -> Iterator[str]:
    """The files that the tensors of one message name."""
    for number, first, end in _fields(data, start, stop):
        part = _PARTS[kind].get(number)
        if part == "external data":
            said = {one: data[at:until] for one, at, until in _fields(data, first, end)}
            if said.get(_KEY) == b"location":
                yield _checked(said.get(_VALUE, b"").decode())
        elif part is not None:
            yield from _locations(data, part, first, end)


def _checked(location: str) -> str:
    """The name of a file; a ValueError where another one may be loaded, as up to a null."""
    if any(character < " " or character == "\x7f" for character in location):
        raise ValueError(f"control characters in the name '{plain(location)}'")
    return location


def _fields(data: mmap.mmap, at: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Number, start and end of the fields of a message that are texts, bytes or messages."""
    while at < stop:
        tag, at = _varint(data, at, stop)
        if tag >= _END_OF_TAGS:
            # onnxruntime would take the lower 32 bits for another field
            raise ValueError("a field with too large a number")
        kind = tag & 7
        size = 0
        if kind == _VARINT:
            _, at = _varint(data, at, stop)
        elif kind == _WITH_LENGTH:
            size, at = _varint(data, at, stop)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            size = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if at + size > stop:
            raise ValueError("a field that goes on after its end")
        if kind == _WITH_LENGTH:
            yield tag >> 3, at, at + size
        at += size


def _varint(data: mmap.mmap, at: int, stop: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    number = shift = 0
    for byte in data[at : min(at + _LONGEST_VARINT, stop)]:
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
    raise ValueError("a number without end")
