"""How servers are asked over HTTP: where to send a batch, what to send, how to read the reply."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, ScoringError, plain
from fairrec.core.options import Blank, spell
from fairrec.core.registry import Registry
from fairrec.scoring.features import (
    DATATYPES,
    TensorSpec,
    choose_output,
    drop_column_axis,
    fill_inputs,
    infer_datatype,
    refuse_unknown_columns,
)
from fairrec.scoring.model import ModelInput

if TYPE_CHECKING:
    from fairrec.scoring.http_client import JsonClient


@dataclass(frozen=True, slots=True)
class ModelMetadata:
    """What a server says of its model; empty where its protocol has no word for it."""

    model: str = ""
    version: str = ""
    is_ready: bool | None = None
    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()


class Wire(ABC):
    """One way to ask a server. By default nothing is asked before the first batch.

    Parameters
    ----------
    url : the address, without query; where batches are sent, unless a protocol knows better
    renamed : name of an input -> name of the column, where they differ
    output : the output that holds the scores; None to find it
    who : the model as the subject of a sentence

    Attributes
    ----------
    pattern, form : what an address must match, and how to write one
    batches : where batches are sent, from the parts of the pattern
    specs : the inputs that the model says it takes, by name; empty where it does not say
    """

    pattern = re.compile(r"(?P<url>.*)")
    form = "http://HOST/PATH"
    batches = "{url}"

    def __init__(self, url: str, renamed: Mapping[str, str], output: str | None, who: str) -> None:
        found = self.pattern.fullmatch(url)
        if found is None:
            raise InputError(
                f"invalid {spell('endpoint')}: expected an address of {self.form}, got {url}. "
                f"Give one, or another {spell('protocol')}."
            )
        self.address = found.groupdict(default="")
        self.url = self.batches.format_map(self.address)
        self.renamed, self.output, self.who = renamed, output, who
        self.specs: dict[str, TensorSpec] = {}

    def open(self, server: JsonClient) -> ModelMetadata:
        """Make sure that the model is there and ready."""
        return ModelMetadata()

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """What the model says it takes; all columns where it says nothing."""
        if self.specs:
            return fill_inputs([*self.specs.values()], columns, self.renamed, self.who)
        refuse_unknown_columns(columns, self.renamed)
        names = {column: name for name, column in self.renamed.items()}
        return tuple(
            ModelInput(names.get(column, column), column, values)
            for column, values in columns.items()
        )

    @abstractmethod
    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """What is sent for a batch: one value per pair for each input."""

    @abstractmethod
    def read_scores(self, reply: Any, n_pairs: int) -> Any:
        """The scores in a reply."""


PROTOCOLS = Registry[Callable[[str, Mapping[str, str], str | None, str], Wire]]("protocol")


def part(reply: Any, name: str) -> Any:
    """A named part of a reply, None where there is none."""
    return reply.get(name) if isinstance(reply, dict) else None


@contextmanager
def metadata_errors(metadata: Any) -> Iterator[None]:
    """An error in words where metadata has another form than the protocol says."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ScoringError(f"its metadata cannot be read: {plain(metadata, 200)}") from None


class OpenInference(Wire):
    """Typed tensors by name; the model says which it takes."""

    pattern = re.compile(
        r"(?P<model>(?P<server>.*)/v2/models/(?P<name>[^/]+)(/versions/(?P<version>[^/]+))?)"
        r"(/infer)?/?"
    )
    form = "the Open Inference Protocol, http://HOST/v2/models/NAME"
    batches = "{model}/infer"

    def open(self, server: JsonClient) -> ModelMetadata:
        """Readiness of server and model, and the model's inputs and outputs."""
        address, model, name = self.address, self.address["model"], self.address["name"]
        # a gateway may show the model alone: 404 says nothing about it
        health = (f"{address['server']}/v2/health/ready", f"{model}/ready")
        is_ready = [*map(server.is_there, health)]
        metadata = server.get(model)
        if metadata is None:
            raise ScoringError(f"there is no model {plain(repr(name))} ({model}: 404)")
        with metadata_errors(metadata):
            # no size, or -1, for any length
            inputs, outputs = (
                tuple(
                    TensorSpec(
                        str(one["name"]),
                        str(one.get("datatype")),
                        tuple(-1 if size is None else int(size) for size in one["shape"]),
                    )
                    for one in metadata.get(part) or ()
                )
                for part in ("inputs", "outputs")
            )
            versions = ",".join(map(str, metadata.get("versions") or ()))
        self.specs = {spec.name: spec for spec in inputs}
        if self.output is not None and outputs:
            choose_output([spec.name for spec in outputs], self.output, self.who)
        model, version = str(metadata.get("name") or name), address["version"] or versions
        return ModelMetadata(model, version, any(is_ready) or None, inputs, outputs)

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """What the model says it takes; all columns in their types where it says nothing."""
        inputs = super().bind(columns)
        if not self.specs:
            self.specs = {
                one.name: TensorSpec(one.name, infer_datatype(one.values), (-1,)) for one in inputs
            }
            inputs = super().bind(columns)
        for one in inputs:
            if one.values.dtype.kind == "f" and np.isnan(one.values).any():
                raise InputError(
                    f"{self.who}: its input {plain(one.name)} is missing for "
                    f"{np.isnan(one.values).sum():,} of {len(one.values):,} values, and the Open "
                    "Inference Protocol cannot say so. Fill them in in the table."
                )
        return inputs

    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One flat tensor an input."""
        tensors = [
            {
                "name": name,
                "shape": [len(values), 1] if self.specs[name].is_column else [len(values)],
                "datatype": self.specs[name].datatype,
                "data": values,
            }
            for name, values in inputs.items()
        ]
        outputs = {} if self.output is None else {"outputs": [{"name": self.output}]}
        return {"inputs": tensors, **outputs}

    def read_scores(self, reply: Any, n_pairs: int) -> Any:
        """The output that holds the scores, in its type."""
        outputs = part(reply, "outputs")
        if not isinstance(outputs, list) or not all(isinstance(one, dict) for one in outputs):
            raise ScoringError('the reply has no list of "outputs"')
        by_name = {str(one.get("name")): one for one in outputs}
        output = by_name[choose_output([*by_name], self.output, "The model")]
        datatype, shape, data = (output.get(name) for name in ("datatype", "shape", "data"))
        if not isinstance(data, list):
            raise ScoringError('the output has no list of "data" (binary data is not read)')
        if shape not in ([n_pairs], [n_pairs, 1]):
            raise ScoringError(
                f"the output has shape {plain(shape)} for {n_pairs:,} pairs. It must have one "
                "number for each pair"
            )
        scores = drop_column_axis(data, n_pairs)
        if datatype in ("FP16", "FP32") and getattr(scores, "dtype", None) == np.float64:
            # a float32 is written with fewer digits than the float64 nearest to it has
            with np.errstate(over="ignore"):
                # what is too large becomes infinite, and is refused where the users are known
                return scores.astype(DATATYPES[datatype]).astype(np.float64)
        return scores


PROTOCOLS.add("oip", OpenInference)


class PlainJson(Wire):
    """`{"user_id": [...], "item_id": [...]}` -> `{"scores": [...]}`."""

    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One list a column."""
        return dict(inputs)

    def read_scores(self, reply: Any, n_pairs: int) -> Any:
        """The list called `scores`."""
        output = self.output or "scores"
        scores = part(reply, output)
        if scores is None:
            raise ScoringError(
                f'the reply has no "{output}". Reply with {{"{output}": [...]}}, one '
                f"number for each pair, or name the part: {spell('output', Blank('NAME'))}"
            )
        return drop_column_axis(scores, n_pairs)


PROTOCOLS.add("json", PlainJson)


_SIGNATURE = "serving_default"
_TFSERVING_DATATYPES = {
    **{f"DT_{name}": name for name in DATATYPES},
    "DT_HALF": "FP16",
    "DT_FLOAT": "FP32",
    "DT_DOUBLE": "FP64",
    "DT_STRING": "BYTES",
}


class TensorFlowServing(Wire):
    """`{"inputs": {...}}` -> `{"outputs": ...}`, with the default signature."""

    pattern = re.compile(
        r"(?P<model>.*/v1/models/(?P<name>[^/:]+)(/(versions|labels)/[^/:]+)?)(:predict)?/?"
    )
    form = "TensorFlow Serving, http://HOST/v1/models/NAME"
    batches = "{model}:predict"

    def open(self, server: JsonClient) -> ModelMetadata:
        """Whether a version is available, and its signature where the server shows it."""
        model, name = self.address["model"], self.address["name"]
        status = server.get(model) or {}
        with metadata_errors(status):
            available = [
                str(one.get("version"))
                for one in status.get("model_version_status") or ()
                if one.get("state") == "AVAILABLE"
            ]
        if status and not available:
            raise ScoringError(
                f"no version of the model {plain(repr(name))} is available: {plain(status)}"
            )
        page = server.get(f"{model}/metadata") or {}
        with metadata_errors(page):
            signatures = page["metadata"]["signature_def"]["signature_def"] if page else {}
            signature = signatures.get(_SIGNATURE) or {}
            inputs, outputs = (
                tuple(
                    TensorSpec(
                        tensor,
                        _TFSERVING_DATATYPES.get(str(one.get("dtype")), str(one.get("dtype"))),
                        # a shape that is not known counts as one value for each pair
                        tuple(
                            int(axis.get("size", -1))
                            for axis in (one.get("tensor_shape") or {}).get("dim") or ()
                        )
                        or (-1,),
                    )
                    for tensor, one in (signature.get(part) or {}).items()
                )
                for part in ("inputs", "outputs")
            )
        self.specs = {spec.name: spec for spec in inputs}
        return ModelMetadata(name, ",".join(available), bool(available) or None, inputs, outputs)

    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One list an input; lists of one where the model wants an axis more."""
        columns = {
            name: values[:, None] if name in self.specs and self.specs[name].is_column else values
            for name, values in inputs.items()
        }
        return {"signature_name": _SIGNATURE, "inputs": columns}

    def read_scores(self, reply: Any, n_pairs: int) -> Any:
        """The only output, or the one that holds the scores."""
        outputs = part(reply, "outputs")
        if isinstance(outputs, dict):
            outputs = outputs[choose_output([*outputs], self.output, "The model")]
        if outputs is None:
            raise ScoringError('the reply has no "outputs"')
        return drop_column_axis(outputs, n_pairs)


PROTOCOLS.add("tfserving", TensorFlowServing)
