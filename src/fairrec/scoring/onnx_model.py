"""A model in an ONNX file, run by onnxruntime."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, plain
from fairrec.core.files import file_sum
from fairrec.core.options import documented, spell
from fairrec.scoring.features import (
    DATATYPES,
    TensorSpec,
    choose_output,
    drop_column_axis,
    fill_inputs,
)
from fairrec.scoring.model import Model, ModelInput
from fairrec.scoring.options import Feature, OnnxOptions, parse_features

_DATATYPES = {
    **{f"tensor({name.lower()})": name for name in DATATYPES},
    "tensor(float16)": "FP16",
    "tensor(float)": "FP32",
    "tensor(double)": "FP64",
    "tensor(string)": "BYTES",
}


@documented(OnnxOptions)
class OnnxModel(Model):
    """A model in an ONNX file.

    Parameters
    ----------
    file : a whole model; weights beside it in files of their own are found there
    features, inputs, output, concurrency, rows_per_call : see OnnxOptions
    """

    def __init__(self, file: str | Path, **options: Any) -> None:
        if find_spec("onnxruntime") is None:
            raise InputError("An ONNX file needs onnxruntime: pip install 'fairrec[onnx]'")
        given = OnnxOptions(**options)
        self.file = Path(file)
        self.who = f"The ONNX model {plain(self.file.name)}"
        self.features: tuple[Feature, ...] = parse_features(given.features)
        self.concurrency, self.rows_per_call = given.concurrency, given.rows_per_call
        self._renamed, self._output_asked_for = given.inputs, given.output
        self._session: Any = None
        self._output = ""
        self._is_column: dict[str, bool] = {}

    def open(self) -> None:
        """Load the file."""
        if self._session is not None:
            return
        import onnxruntime

        if not self.file.is_file():
            raise InputError(f"{self._where}: there is no such file. Check the path.")
        self._side_files()
        try:
            self._session = onnxruntime.InferenceSession(
                self.file, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            # onnxruntime has errors of its own for each kind of damage, without a common base
            raise InputError(
                f"{self._where}: cannot be loaded ({plain(error, 300)}). Is it a complete ONNX "
                "model?"
            ) from error
        names = [one.name for one in self._session.get_outputs()]
        self._output = choose_output(names, self._output_asked_for, self.who)

    def inputs(self) -> tuple[TensorSpec, ...]:
        """What the model takes."""
        self.open()
        return tuple(map(_spec, self._session.get_inputs()))

    def outputs(self) -> tuple[TensorSpec, ...]:
        """What the model gives."""
        self.open()
        return tuple(map(_spec, self._session.get_outputs()))

    def identity(self) -> str:
        """The checksum of the file and of those beside it, and how its inputs are filled."""
        parts = [f"onnx {file_sum(self.file)}"]
        if names := self._side_files():
            sums = hashlib.sha256()
            for name in names:
                beside = self.file.parent / name
                # one that is not there is not loaded, but once it is, the model is another
                found = file_sum(beside) if beside.is_file() else "missing"
                sums.update(f"{len(name)} {name} {found} ".encode())
            parts.append(f"weights {sums.hexdigest()}")
        parts += [f"{one.table}:{one.column}" for one in self.features]
        parts += [f"{name}={column}" for name, column in sorted(self._renamed.items())]
        parts += [f"output {self._output_asked_for}"] if self._output_asked_for else []
        return " ".join(parts)

    @property
    def _where(self) -> str:
        return f"{spell('onnx')} {plain(self.file, 300)}"

    def _side_files(self) -> tuple[str, ...]:
        """The files with weights that the model names, all of them beside it."""
        try:
            names = find_side_files(self.file)
            refuse_outside(self.file, names)
        except ValueError as error:
            raise InputError(
                f"{self._where}: {plain(error, 300)}. Give a complete ONNX model with the files of "
                "its weights beside it, and use no model that you do not trust."
            ) from error
        return names

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """The inputs of the model."""
        specs = self.inputs()
        self._is_column = {spec.name: spec.is_column for spec in specs}
        return fill_inputs(specs, columns, self._renamed, self.who)

    def answer(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One number per pair."""
        n_pairs = len(next(iter(inputs.values())))
        fed = {
            name: values[:, None] if self._is_column[name] else values
            for name, values in inputs.items()
        }
        (scores,) = self._session.run([self._output], fed)
        return drop_column_axis(scores, n_pairs)

    def close(self) -> None:
        """Let go of the model."""
        self._session = None


def _spec(one: Any) -> TensorSpec:
    sizes = tuple(size if isinstance(size, int) else -1 for size in one.shape)
    return TensorSpec(one.name, _DATATYPES.get(one.type, one.type), sizes)


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


def find_side_files(file: Path) -> tuple[str, ...]:
    """Where the weights outside a model's file are, as it says: from its folder, each once, sorted.

    A ValueError where the file is no ONNX model.
    """
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if file.suffix.lower() == ".ort":
            # onnxruntime's own form, which has all weights inside
            return ()
        return tuple(sorted(set(_find_locations(data, "model", 0, len(data)))))


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


def _find_locations(data: mmap.mmap, kind: str, start: int, stop: int) -> Iterator[str]:
    """The files that the tensors of one message name."""
    for number, first, end in _read_fields(data, start, stop):
        part = _PARTS[kind].get(number)
        if part == "external data":
            entry = {one: data[at:until] for one, at, until in _read_fields(data, first, end)}
            if entry.get(_KEY) == b"location":
                yield entry.get(_VALUE, b"").decode()
        elif part is not None:
            yield from _find_locations(data, part, first, end)


def _read_fields(data: mmap.mmap, at: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Number, start and end of the fields of a message that are texts, bytes or messages."""
    while at < stop:
        tag, at = _read_varint(data, at, stop)
        kind = tag & 7
        size = 0
        if kind == _VARINT:
            _, at = _read_varint(data, at, stop)
        elif kind == _WITH_LENGTH:
            size, at = _read_varint(data, at, stop)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            size = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if at + size > stop:
            raise ValueError("a field that goes on after its end")
        if kind == _WITH_LENGTH:
            yield tag >> 3, at, at + size
        at += size


def _read_varint(data: mmap.mmap, at: int, stop: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    number = shift = 0
    for byte in data[at : min(at + 10, stop)]:
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
    raise ValueError("a number without end")
