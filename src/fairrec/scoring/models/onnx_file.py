"""A model in an ONNX file, run by onnxruntime."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, plain
from fairrec.core.files import file_sum
from fairrec.core.options import documented, spelled
from fairrec.scoring.models.call_options import OnnxOptions
from fairrec.scoring.models.feature_names import Feature, parse_features
from fairrec.scoring.models.model import ModelInput
from fairrec.scoring.models.onnx_side_files import refuse_outside, side_files
from fairrec.scoring.models.tensors import (
    TensorSpec,
    chosen_output,
    inputs_for,
    without_column_axis,
)

_DATATYPES = {
    "tensor(bool)": "BOOL",
    "tensor(uint8)": "UINT8",
    "tensor(uint16)": "UINT16",
    "tensor(uint32)": "UINT32",
    "tensor(uint64)": "UINT64",
    "tensor(int8)": "INT8",
    "tensor(int16)": "INT16",
    "tensor(int32)": "INT32",
    "tensor(int64)": "INT64",
    "tensor(float16)": "FP16",
    "tensor(float)": "FP32",
    "tensor(double)": "FP64",
    "tensor(string)": "BYTES",
}


@documented(OnnxOptions)
class OnnxModel:
    """A model in an ONNX file.

    Parameters
    ----------
    file : a whole model; weights beside it in files of their own are found there
    features, inputs, output, concurrency, rows_per_call : see OnnxOptions
    """

    def __init__(
        self,
        file: str | Path,
        *,
        features: str | Sequence[str] | None = None,
        inputs: Mapping[str, str] | None = None,
        output: str | None = None,
        concurrency: int = OnnxOptions.concurrency,
        rows_per_call: int = OnnxOptions.rows_per_call,
    ) -> None:
        if find_spec("onnxruntime") is None:
            raise InputError("An ONNX file needs onnxruntime: pip install 'fairrec[onnx]'")
        self.file = Path(file)
        self.who = f"The ONNX model {plain(self.file.name)}"
        given = OnnxOptions(
            features=features,
            inputs={} if inputs is None else inputs,
            output=output,
            concurrency=concurrency,
            rows_per_call=rows_per_call,
        )
        self.features: tuple[Feature, ...] = parse_features(given.features)
        self.concurrency, self.rows_per_call = given.concurrency, given.rows_per_call
        self._renamed, self._wanted = given.inputs, given.output
        self._session: Any = None
        self._output = ""
        self._is_column: dict[str, bool] = {}

    def open(self) -> None:
        """Load the file."""
        if self._session is not None:
            return
        import onnxruntime

        if not self.file.is_file():
            raise InputError(
                f"{spelled('onnx')} {plain(self.file, 300)}: there is no such file. Check the path."
            )
        self._side_files()
        try:
            self._session = onnxruntime.InferenceSession(
                self.file, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            # onnxruntime has errors of its own for each kind of damage, without a common base
            raise InputError(
                f"{spelled('onnx')} {plain(self.file, 300)}: cannot be loaded "
                f"({plain(error, 300)}). Is it a complete ONNX model?"
            ) from error
        self._output = chosen_output(
            [one.name for one in self._session.get_outputs()], self._wanted, self.who
        )

    def inputs(self) -> tuple[TensorSpec, ...]:
        """What the model takes."""
        self.open()
        return tuple(_spec(one) for one in self._session.get_inputs())

    def outputs(self) -> tuple[TensorSpec, ...]:
        """What the model gives."""
        self.open()
        return tuple(_spec(one) for one in self._session.get_outputs())

    def identity(self) -> str:
        """The checksum of the file and of those beside it, and how its inputs are filled."""
        filled = [f"{one.table}:{one.column}" for one in self.features]
        filled += [f"{name}={column}" for name, column in sorted(self._renamed.items())]
        filled += [f"output {self._wanted}"] if self._wanted else []
        return " ".join([f"onnx {file_sum(self.file)}", *self._side_sums(), *filled])

    def _side_files(self) -> tuple[str, ...]:
        """The files with weights that the model names, all of them beside it."""
        try:
            names = side_files(self.file)
        except ValueError as error:
            raise InputError(
                f"{spelled('onnx')} {plain(self.file, 300)}: cannot be searched for the files "
                f"with its weights ({plain(error, 300)}). Is it a complete ONNX model?"
            ) from error
        try:
            refuse_outside(self.file, names)
        except ValueError as error:
            raise InputError(
                f"{spelled('onnx')} {plain(self.file, 300)}: asks for {plain(error, 300)}. "
                "Put the files with its weights beside it, and use no model that you do not trust."
            ) from error
        return names

    def _side_sums(self) -> list[str]:
        """The checksums of the files with weights that the model names, in one."""
        names = self._side_files()
        sums = hashlib.sha256()
        for name in names:
            beside = self.file.parent / name
            # one that is not there is not loaded either, but once it is, the model is another
            found = file_sum(beside) if _is_file(beside) else "missing"
            sums.update(f"{len(name)} {name} {found} ".encode())
        return [f"weights {sums.hexdigest()}"] if names else []

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """The inputs of the model."""
        specs = self.inputs()
        self._is_column = {spec.name: spec.is_column for spec in specs}
        return inputs_for(specs, columns, self._renamed, self.who)

    def answer(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One number per pair."""
        n_pairs = len(next(iter(inputs.values())))
        fed = {
            name: values[:, None] if self._is_column[name] else values
            for name, values in inputs.items()
        }
        (scores,) = self._session.run([self._output], fed)
        return without_column_axis(scores, n_pairs)

    def faults(self) -> dict[str, int]:
        """None: a file is never asked again."""
        return {}

    def stop(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Let go of the model."""
        self._session = None


def _is_file(path: Path) -> bool:
    """Whether there is such a file; none can have too long a name."""
    try:
        return path.is_file()
    except OSError:
        return False


def _spec(one: Any) -> TensorSpec:
    sizes = tuple(size if isinstance(size, int) else -1 for size in one.shape)
    return TensorSpec(one.name, _DATATYPES.get(one.type, one.type), sizes)
