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
    """A server's description of its model; empty where its protocol has none."""

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
    specs : the inputs that the model describes, by name; empty where it does not
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
        """The inputs that the model describes; all columns where it describes none."""
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
        """The JSON of a batch: one value per pair for each input."""

    @abstractmethod
    def read_scores(self, reply: Any, n_pairs: int) -> Any:
        """The scores in a reply."""


PROTOCOLS = Registry[Callable[[str, Mapping[str, str], str | None, str], Wire]]("protocol")


def read_part(reply: Any, name: str) -> Any:
    """A named part of a reply; an error where there is none."""
    if not isinstance(reply, dict) or reply.get(name) is None:
        raise ScoringError(
            f'the reply has no "{name}", which must hold one number for each pair. Name the part '
            f"with the scores: {spell('output', Blank('NAME'))}"
        )
    return reply[name]


@contextmanager
def _metadata_errors(metadata: Any) -> Iterator[None]:
    """An error in words where metadata has another form than the protocol has."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ScoringError(f"its metadata cannot be read: {plain(metadata, 200)}") from None


class OpenInference(Wire):
    """Typed tensors by name; the model describes which it takes."""

    pattern = re.compile(
        r"(?P<model>(?P<server>.*)/v2/models/(?P<name>[^/]+)(/versions/(?P<version>[^/]+))?)"
        r"(/infer)?/?"
    )
    form = "the Open Inference Protocol, http://HOST/v2/models/NAME"
    batches = "{model}/infer"

    def open(self, server: JsonClient) -> ModelMetadata:
        """Readiness of server and model, and the model's inputs and outputs."""
        address, model, name = self.address, self.address["model"], self.address["name"]
        # a gateway may show the model alone: 404 is no sign of its health
        health = (f"{address['server']}/v2/health/ready", f"{model}/ready")
        is_ready = [*map(server.is_there, health)]
        metadata = server.get(model)
        if metadata is None:
            raise ScoringError(f"there is no model {plain(repr(name))} ({model}: 404)")
        with _metadata_errors(metadata):
            inputs, outputs = (
                tuple(map(_tensor, metadata.get(part) or ())) for part in ("inputs", "outputs")
            )
            versions = ",".join(map(str, metadata.get("versions") or ()))
            model = str(metadata.get("name") or name)
        self.specs = {spec.name: spec for spec in inputs}
        if self.output is not None and outputs:
            choose_output([spec.name for spec in outputs], self.output, self.who)
        version = address["version"] or versions
        return ModelMetadata(model, version, any(is_ready) or None, inputs, outputs)

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """The inputs that the model describes; all columns in their types where it has none."""
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
                    f"{np.isnan(one.values).sum():,} of {len(one.values):,} values, which the Open "
                    "Inference Protocol cannot send. Fill them in in the table."
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
        with _metadata_errors(reply):
            by_name = {str(one.get("name")): one for one in read_part(reply, "outputs")}
        output = by_name[choose_output([*by_name], self.output, "The model")]
        # binary data are not read
        data, datatype, shape = (
            read_part(output, "data"),
            output.get("datatype"),
            output.get("shape"),
        )
        if shape not in ([n_pairs], [n_pairs, 1]):
            raise ScoringError(f"the output has shape {plain(shape)} for {n_pairs:,} pairs")
        scores = drop_column_axis(data, n_pairs)
        if datatype in ("FP16", "FP32") and getattr(scores, "dtype", None) == np.float64:
            # a float32 is written with fewer digits than the float64 nearest to it has; a score
            # that is too large becomes infinite, and is refused where the users are known
            with np.errstate(over="ignore"):
                return scores.astype(DATATYPES[datatype]).astype(np.float64)
        return scores


def _tensor(described: Any) -> TensorSpec:
    # no size, or -1, for any length
    shape = tuple(-1 if size is None else int(size) for size in described["shape"])
    return TensorSpec(str(described["name"]), str(described.get("datatype")), shape)


PROTOCOLS.add("oip", OpenInference)


class PlainJson(Wire):
    """`{"user_id": [...], "item_id": [...]}` -> `{"scores": [...]}`."""

    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One list a column."""
        return dict(inputs)

    def read_scores(self, reply: Any, n_pairs: int) -> Any:
        """The list called `scores`."""
        return drop_column_axis(read_part(reply, self.output or "scores"), n_pairs)


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
        page = server.get(f"{model}/metadata")
        with _metadata_errors((status, page)):
            available = [
                str(one.get("version"))
                for one in status.get("model_version_status") or ()
                if one.get("state") == "AVAILABLE"
            ]
            signatures = page["metadata"]["signature_def"]["signature_def"] if page else {}
            signature = signatures.get(_SIGNATURE) or {}
            inputs, outputs = (
                tuple(_tfserving_tensor(*one) for one in (signature.get(part) or {}).items())
                for part in ("inputs", "outputs")
            )
        if status and not available:
            raise ScoringError(
                f"no version of the model {plain(repr(name))} is available: {plain(status)}"
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
        outputs = read_part(reply, "outputs")
        if isinstance(outputs, dict):
            outputs = outputs[choose_output([*outputs], self.output, "The model")]
        return drop_column_axis(outputs, n_pairs)


def _tfserving_tensor(name: str, described: Any) -> TensorSpec:
    datatype = str(described.get("dtype"))
    sizes = (described.get("tensor_shape") or {}).get("dim") or ()
    # a shape that is not known counts as one value for each pair
    shape = tuple(int(size.get("size", -1)) for size in sizes) or (-1,)
    return TensorSpec(name, _TFSERVING_DATATYPES.get(datatype, datatype), shape)


PROTOCOLS.add("tfserving", TensorFlowServing)
