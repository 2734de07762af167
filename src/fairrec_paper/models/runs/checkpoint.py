"""A trained run in a folder: weights as safetensors, everything else as JSON and Parquet."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor
from torch.overrides import TorchFunctionMode

from fairrec.core.errors import InputError, is_panic, plain
from fairrec.core.files import whole_file, write_text
from fairrec_paper.models.deep.base import CTRModel, HyperParameters
from fairrec_paper.models.deep.features import FeatureTables
from fairrec_paper.models.deep.registry import MODELS
from fairrec_paper.models.runs.record import AGAIN


def build_model(name: str, hyper: dict[str, Any], tables: FeatureTables) -> CTRModel:
    """A new model of this name; unknown hyper-parameters are errors."""
    kind = MODELS[name]
    fields = dataclasses.fields(kind.hyper_parameters)
    is_tuple = {field.name: isinstance(field.default, tuple) for field in fields}
    unknown = sorted(set(hyper) - set(is_tuple))
    if unknown:
        raise InputError(
            f"Model '{name}' has no hyper-parameter '{unknown[0]}'. "
            f"Known: {', '.join(sorted(is_tuple))}."
        )
    values: dict[str, Any] = {}
    for key, value in hyper.items():
        several = value if isinstance(value, list | tuple) else (value,)
        values[key] = tuple(several) if is_tuple[key] else value
    return kind(tables, kind.hyper_parameters(**values))


def save_tensors(tensors: dict[str, Tensor], file: Path) -> None:
    """Write tensors so that a kill leaves the old file or the new one, never half."""
    content = save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})
    with whole_file(file) as part:
        # not by safetensors, which would put another file under this name
        part.write_bytes(content)


def save_record(record: BaseModel, file: Path) -> None:
    """Write a record in the same way."""
    write_text(file, record.model_dump_json(indent=2) + "\n")


def load_model(name: str, hyper: dict[str, Any], tables: FeatureTables, file: Path) -> CTRModel:
    """A model with saved weights; a foreign or damaged file is a clear error."""
    tensors = _tensors_in(file)
    try:
        # sizes alone take no memory, and those of another model may take all of it
        with torch.device("meta"), _Unfilled():
            wanted = build_model(name, hyper, tables).state_dict()
    except (RuntimeError, TypeError, ValueError, OverflowError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        raise _of_another_model(file) from error
    if _sizes(wanted) != _sizes(tensors):
        raise _of_another_model(file)
    model = build_model(name, hyper, tables)
    # codes of users and items are those of the tables beside, or they would name others
    if not all(torch.equal(own, tensors[name]) for name, own in model.named_buffers()):
        raise _of_another_model(file)
    model.load_state_dict(tensors)
    if not all(torch.isfinite(t).all() for t in tensors.values() if t.is_floating_point()):
        raise InputError(f"{file}: holds weights that are not finite. {AGAIN}")
    return model


class _Unfilled(TorchFunctionMode):
    """Leaves new tensors as they are: to fill those without memory, torch loads its compiler."""

    _FILLS = (Tensor.normal_, Tensor.uniform_, Tensor.zero_, Tensor.fill_, Tensor.__setitem__)

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in self._FILLS or getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        if func is torch.triu_indices:
            n = args[0]
            return torch.empty((2, n * (n - 1) // 2), dtype=torch.int64)
        return func(*args, **kwargs)


def _tensors_in(file: Path) -> dict[str, Tensor]:
    try:
        # read here, because safetensors takes no path that is not Unicode
        return load(file.read_bytes())
    except BaseException as error:
        # types of numbers that torch has not are KeyErrors
        if not (is_panic(error) or isinstance(error, OSError | SafetensorError | KeyError)):
            raise
        raise InputError(
            f"{file}: cannot be read as safetensors ({plain(error, 300)}). {AGAIN}"
        ) from error


def _sizes(tensors: Mapping[str, Tensor]) -> dict[str, tuple[torch.Size, torch.dtype]]:
    return {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()}


def _of_another_model(file: Path) -> InputError:
    return InputError(
        f"{file}: holds the weights of another model than run.json describes. "
        "Keep both files of one run together."
    )


def hyper_as_dict(hyper: HyperParameters) -> dict[str, Any]:
    """Hyper-parameters as plain values."""
    return dataclasses.asdict(hyper)
