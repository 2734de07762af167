"""`tfserving`: the predict call of TensorFlow Serving, in columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, ScoringError, plain
from fairrec.core.options import spelled
from fairrec.scoring.models.model import ModelInput
from fairrec.scoring.models.tensors import (
    TensorSpec,
    chosen_output,
    inputs_for,
    without_column_axis,
)
from fairrec.scoring.wire.protocol import (
    PROTOCOLS,
    Asked,
    Asks,
    Seen,
    all_inputs,
    listed_part,
    part,
    size_of_axis,
    unreadable,
)

_PATH = re.compile(
    r"(?P<model>.*/v1/models/(?P<name>[^/:]+)(/(versions|labels)/[^/:]+)?)(:predict)?/?"
)
_SIGNATURE = "serving_default"
_DATATYPES = {
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


class TensorFlowServing:
    """`{"inputs": {...}}` -> `{"outputs": ...}`, with the default signature."""

    def __init__(self, asked: Asked) -> None:
        found = _PATH.fullmatch(asked.url)
        if found is None:
            raise InputError(
                f"invalid {spelled('endpoint')}: expected an address of TensorFlow Serving, "
                f"http://HOST/v1/models/NAME, got {asked.url}. Give one, or another "
                f"{spelled('protocol')}."
            )
        self._model, self._name = found["model"], found["name"]
        self.url = f"{self._model}:predict"
        self._asked = asked
        self._specs: dict[str, TensorSpec] = {}

    def open(self, server: Asks) -> Seen:
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
        inputs, outputs = (_specs(signature, name) for name in ("inputs", "outputs"))
        self._specs = {spec.name: spec for spec in inputs}
        return Seen(
            model=self._name,
            version=",".join(available),
            is_ready=True if available else None,
            inputs=inputs,
            outputs=outputs,
        )

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """What the signature takes; all columns where the server does not show it."""
        if not self._specs:
            return all_inputs(columns, self._asked.renamed)
        asked = self._asked
        return inputs_for([*self._specs.values()], columns, asked.renamed, asked.who)

    def body(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One list an input; lists of one where the model wants an axis more."""
        columns = {
            name: values[:, None] if name in self._specs and self._specs[name].is_column else values
            for name, values in inputs.items()
        }
        return {"signature_name": _SIGNATURE, "inputs": columns}

    def scores_in(self, reply: Any, n_pairs: int) -> Any:
        """The only output, or the one that holds the scores."""
        outputs = part(reply, "outputs")
        if isinstance(outputs, dict):
            outputs = outputs[chosen_output([*outputs], self._asked.output, "The model")]
        if outputs is None:
            raise ScoringError('the reply has no "outputs"')
        return without_column_axis(outputs, n_pairs)


def _specs(signature: Any, side: str) -> tuple[TensorSpec, ...]:
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
        found.append(TensorSpec(name, _DATATYPES.get(kind, kind), tuple(sizes) or (-1,)))
    return tuple(found)


PROTOCOLS.add("tfserving", TensorFlowServing)
