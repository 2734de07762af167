"""A model in an ONNX file, run by onnxruntime."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Mapping
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
        beside = self.file.parent
        parts += [f"{name} {file_sum(beside / name)}" for name in find_weights(self.file)]
        parts += map(str, self.features)
        parts += [f"{name}={column}" for name, column in sorted(self._renamed.items())]
        parts += [f"output {self._output_asked_for}"] if self._output_asked_for else []
        return " ".join(parts)

    @property
    def _where(self) -> str:
        return f"{spell('onnx')} {plain(self.file, 300)}"

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


_LOCATION = re.compile(rb"\x0a\x08location\x12(.{1,128})", re.DOTALL)
"""A file of weights as a tensor names it in protobuf: what it is, the length of the name, the name.

A node with an input called `location` may look the same; no file has the name of its output.
"""


def find_weights(file: Path) -> tuple[str, ...]:
    """The files of weights beside a model that it names, sorted; onnxruntime refuses any other."""
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        entries = {entry[1][1 : 1 + entry[1][0]] for entry in _LOCATION.finditer(data)}
    names = (os.fsdecode(entry) for entry in entries if b"\0" not in entry)
    return tuple(sorted(name for name in names if (file.parent / name).is_file()))
