"""A trained run in a folder: weights as safetensors, everything else as JSON and Parquet."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from fairrec.core.errors import InputError
from fairrec.core.files import whole_file, write_text
from fairrec.models.deep.base import CTRModel, HyperParameters
from fairrec.models.deep.features import FeatureTables
from fairrec.models.deep.registry import MODELS


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


def load_weights(model: CTRModel, file: Path) -> None:
    """Fill a model with saved weights; a foreign or damaged file is a clear error."""
    try:
        # read here, because safetensors takes no path that is not Unicode
        tensors = load(file.read_bytes())
        model.load_state_dict(tensors)
    except (OSError, SafetensorError) as error:
        raise InputError(
            f"{file}: cannot be read as safetensors ({error}). Train again."
        ) from error
    except RuntimeError as error:
        raise InputError(
            f"{file}: holds the weights of another model than run.json describes. "
            "Keep both files of one run together."
        ) from error
    if not all(torch.isfinite(t).all() for t in tensors.values() if t.is_floating_point()):
        raise InputError(f"{file}: holds weights that are not finite. Train again.")


def hyper_as_dict(hyper: HyperParameters) -> dict[str, Any]:
    """Hyper-parameters as plain values."""
    return dataclasses.asdict(hyper)
