"""How servers are asked over HTTP: where to send a batch, what to send, how to read the reply."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, ScoringError, plain
from fairrec.core.options import Blank, spell
from fairrec.core.registry import Registry
from fairrec.scoring.model import ModelInput
from fairrec.scoring.tensors import (
    DATATYPES,
    TensorSpec,
    chosen_output,
    infer_datatype,
    inputs_for,
    refuse_unknown_columns,
    without_column_axis,
)

if TYPE_CHECKING:
    from fairrec.scoring.http_client import JsonClient


@dataclass(frozen=True, slots=True)
class Seen:
    """What a server says of its model; empty where its protocol has no word for it."""

    model: str = ""
    version: str = ""
    is_ready: bool | None = None
    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller says about a model.

    Parameters
    ----------
    url : the address, without query
    renamed : name of an input -> name of the column, where they differ
    output : the output that holds the scores; None to find it
    who : the model as the subject of a sentence
    """

    url: str
    renamed: Mapping[str, str]
    output: str | None
    who: str


class Wire(ABC):
    """One way to ask a server. By default nothing is asked before the first batch.

    Attributes
    ----------
    url : where batches are sent
    specs : the inputs that the model says it takes, by name; empty where it does not say
    """

    def __init__(self, asked: Asked) -> None:
        self.url, self.asked = asked.url, asked
        self.specs: dict[str, TensorSpec] = {}

    def open(self, server: JsonClient) -> Seen:
        """Make sure that the model is there and ready."""
        return Seen()

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """What the model says it takes; all columns where it says nothing."""
        asked = self.asked
        if not self.specs:
            return all_inputs(columns, asked.renamed)
        return inputs_for([*self.specs.values()], columns, asked.renamed, asked.who)

    @abstractmethod
    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """What is sent for a batch: one value per pair for each input."""

    @abstractmethod
    def scores_in(self, reply: Any, n_pairs: int) -> Any:
        """The scores in a reply."""


PROTOCOLS = Registry[Callable[[Asked], Wire]]("protocol")


def all_inputs(
    columns: Mapping[str, AnyArray], renamed: Mapping[str, str]
) -> tuple[ModelInput, ...]:
    """All columns, for a server that does not say what it takes."""
    refuse_unknown_columns(columns, renamed)
    folder_name = {column: name for name, column in renamed.items()}
    return tuple(
        ModelInput(folder_name.get(column, column), column, values)
        for column, values in columns.items()
    )


def listed_part(said: Any, name: str) -> list[Any]:
    """A named list in metadata, empty where there is none; an error where it is no list."""
    found = part(said, name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise unreadable(name, found)
    return found


def size_of_axis(size: Any, name: str) -> int:
    """The length of an axis as metadata gives it, as a number or as text; -1 for any."""
    if size is None:
        return -1
    if isinstance(size, int):
        return size
    if isinstance(size, str) and re.fullmatch(r"-?[0-9]{1,18}", size):
        return int(size)
    raise unreadable(name, size)


def unreadable(name: str, found: Any) -> ScoringError:
    """The error for metadata of another form than its protocol has."""
    return ScoringError(f'its metadata has "{name}" that cannot be read: {plain(found)}')


def part(reply: Any, name: str) -> Any:
    """A named part of a reply, None where there is none."""
    return reply.get(name) if isinstance(reply, dict) else None


_OIP_PATH = re.compile(
    r"(?P<server>.*)/v2/models/(?P<model>[^/]+)(/versions/(?P<version>[^/]+))?(/infer)?/?"
)


class OpenInference(Wire):
    """Typed tensors by name; the model says which it takes."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        found = _OIP_PATH.fullmatch(asked.url)
        if found is None:
            raise InputError(
                f"invalid {spell('endpoint')}: expected an address of the Open Inference "
                f"Protocol, http://HOST/v2/models/NAME, got {asked.url}. Give one, or another "
                f"{spell('protocol')}."
            )
        self._server, self._name = found["server"], found["model"]
        self._version = found["version"] or ""
        self._model = f"{self._server}/v2/models/{self._name}"
        if self._version:
            self._model += f"/versions/{self._version}"
        self.url = f"{self._model}/infer"

    def open(self, server: JsonClient) -> Seen:
        """Readiness of server and model, and the model's inputs and outputs."""
        # a gateway may show the model alone: 404 says nothing about it
        health = (f"{self._server}/v2/health/ready", f"{self._model}/ready")
        is_ready = [*map(server.is_there, health)]
        said = server.get(self._model)
        if said is None:
            raise ScoringError(f"there is no model {plain(repr(self._name))} ({self._model}: 404)")
        inputs, outputs = (_oip_specs(said, name) for name in ("inputs", "outputs"))
        self.specs = {spec.name: spec for spec in inputs}
        if self.asked.output is not None and outputs:
            chosen_output([spec.name for spec in outputs], self.asked.output, self.asked.who)
        versions = listed_part(said, "versions")
        return Seen(
            model=str(part(said, "name") or self._name),
            version=self._version or ",".join(map(str, versions)),
            is_ready=any(is_ready) or None,
            inputs=inputs,
            outputs=outputs,
        )

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """What the model says it takes; all columns in their types where it says nothing."""
        asked = self.asked
        if not self.specs:
            untyped = all_inputs(columns, asked.renamed)
            self.specs = {
                one.name: TensorSpec(one.name, infer_datatype(one.values), (-1,)) for one in untyped
            }
            asked = replace(asked, renamed={one.name: one.column for one in untyped})
        inputs = inputs_for([*self.specs.values()], columns, asked.renamed, asked.who)
        for one in inputs:
            if one.values.dtype.kind == "f" and np.isnan(one.values).any():
                raise InputError(
                    f"{asked.who}: its input {plain(one.name)} is missing for "
                    f"{np.isnan(one.values).sum():,} of {len(one.values):,} values, and the Open "
                    "Inference Protocol cannot say so. Fill them in in the table."
                )
        return inputs

    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One flat tensor an input."""
        tensors = []
        for name, values in inputs.items():
            spec = self.specs[name]
            tensors.append(
                {
                    "name": name,
                    "shape": [len(values), 1] if spec.is_column else [len(values)],
                    "datatype": spec.datatype,
                    "data": values,
                }
            )
        body: dict[str, Any] = {"inputs": tensors}
        if self.asked.output is not None:
            body["outputs"] = [{"name": self.asked.output}]
        return body

    def scores_in(self, reply: Any, n_pairs: int) -> Any:
        """The output that holds the scores, in its type."""
        outputs = part(reply, "outputs")
        if not isinstance(outputs, list) or not all(isinstance(one, dict) for one in outputs):
            raise ScoringError('the reply has no list of "outputs"')
        by_name = {str(one.get("name")): one for one in outputs}
        output = by_name[chosen_output([*by_name], self.asked.output, "The model")]
        datatype, shape, data = (output.get(name) for name in ("datatype", "shape", "data"))
        if not isinstance(data, list):
            raise ScoringError('the output has no list of "data" (binary data is not read)')
        if shape not in ([n_pairs], [n_pairs, 1]):
            raise ScoringError(
                f"the output has shape {plain(shape)} for {n_pairs:,} pairs. It must have one "
                "number for each pair"
            )
        scores = without_column_axis(data, n_pairs)
        if (
            datatype in ("FP16", "FP32")
            and isinstance(scores, np.ndarray)
            and scores.dtype == float
        ):
            # a float32 is written with fewer digits than the float64 nearest to it has
            with np.errstate(over="ignore"):
                # what is too large becomes infinite, and is refused where the users are known
                return scores.astype(DATATYPES[datatype]).astype(np.float64)
        return scores


def _oip_specs(said: Any, name: str) -> tuple[TensorSpec, ...]:
    """The tensors that metadata lists."""
    found = []
    for one in listed_part(said, name):
        shape = part(one, "shape")
        if not isinstance(part(one, "name"), str) or not isinstance(shape, list):
            raise unreadable(name, one)
        sizes = tuple(size_of_axis(size, "shape") for size in shape)
        found.append(TensorSpec(one["name"], str(one.get("datatype")), sizes))
    return tuple(found)


PROTOCOLS.add("oip", OpenInference)


class PlainJson(Wire):
    """`{"user_id": [...], "item_id": [...]}` -> `{"scores": [...]}`."""

    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One list a column."""
        return dict(inputs)

    def scores_in(self, reply: Any, n_pairs: int) -> Any:
        """The list called `scores`."""
        output = self.asked.output or "scores"
        if (scores := part(reply, output)) is None:
            raise ScoringError(
                f'the reply has no "{output}". Reply with {{"{output}": [...]}}, one '
                f"number for each pair, or name the part: {spell('output', Blank('NAME'))}"
            )
        return without_column_axis(scores, n_pairs)


PROTOCOLS.add("json", PlainJson)


_TFSERVING_PATH = re.compile(
    r"(?P<model>.*/v1/models/(?P<name>[^/:]+)(/(versions|labels)/[^/:]+)?)(:predict)?/?"
)
_SIGNATURE = "serving_default"
_TFSERVING_DATATYPES = {
    "DT_BOOL": "BOOL",
    "DT_INT8": "INT8",
    "DT_INT16": "INT16",
    "DT_INT32": "INT32",
    "DT_INT64": "INT64",
    "DT_HALF": "FP16",
    "DT_FLOAT": "FP32",
    "DT_DOUBLE": "FP64",
    "DT_STRING": "BYTES",
}


class TensorFlowServing(Wire):
    """`{"inputs": {...}}` -> `{"outputs": ...}`, with the default signature."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        found = _TFSERVING_PATH.fullmatch(asked.url)
        if found is None:
            raise InputError(
                f"invalid {spell('endpoint')}: expected an address of TensorFlow Serving, "
                f"http://HOST/v1/models/NAME, got {asked.url}. Give one, or another "
                f"{spell('protocol')}."
            )
        self._model, self._name = found["model"], found["name"]
        self.url = f"{self._model}:predict"

    def open(self, server: JsonClient) -> Seen:
        """Whether a version is available, and its signature where the server shows it."""
        status = server.get(self._model)
        versions = listed_part(status, "model_version_status")
        available = [
            str(part(one, "version")) for one in versions if part(one, "state") == "AVAILABLE"
        ]
        if status is not None and not available:
            raise ScoringError(
                f"no version of the model {plain(repr(self._name))} is available: {plain(status)}"
            )
        signature = server.get(f"{self._model}/metadata")
        for name in ("metadata", "signature_def", "signature_def", _SIGNATURE):
            signature = part(signature, name)
        inputs, outputs = (_tfserving_specs(signature, name) for name in ("inputs", "outputs"))
        self.specs = {spec.name: spec for spec in inputs}
        return Seen(
            model=self._name,
            version=",".join(available),
            is_ready=True if available else None,
            inputs=inputs,
            outputs=outputs,
        )

    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One list an input; lists of one where the model wants an axis more."""
        columns = {
            name: values[:, None] if name in self.specs and self.specs[name].is_column else values
            for name, values in inputs.items()
        }
        return {"signature_name": _SIGNATURE, "inputs": columns}

    def scores_in(self, reply: Any, n_pairs: int) -> Any:
        """The only output, or the one that holds the scores."""
        outputs = part(reply, "outputs")
        if isinstance(outputs, dict):
            outputs = outputs[chosen_output([*outputs], self.asked.output, "The model")]
        if outputs is None:
            raise ScoringError('the reply has no "outputs"')
        return without_column_axis(outputs, n_pairs)


def _tfserving_specs(signature: Any, side: str) -> tuple[TensorSpec, ...]:
    """The inputs or outputs of a signature."""
    tensors = part(signature, side)
    if tensors is None:
        return ()
    if not isinstance(tensors, dict):
        raise unreadable(side, tensors)
    found = []
    for name, one in tensors.items():
        dims = listed_part(part(one, "tensor_shape"), "dim")
        sizes = [size_of_axis(part(dim, "size"), "size") for dim in dims]
        kind = str(part(one, "dtype"))
        # a shape that is not known counts as one value for each pair
        found.append(TensorSpec(name, _TFSERVING_DATATYPES.get(kind, kind), tuple(sizes) or (-1,)))
    return tuple(found)


PROTOCOLS.add("tfserving", TensorFlowServing)
