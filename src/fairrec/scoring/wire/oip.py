"""`oip`: the Open Inference Protocol, version 2 (KServe, Triton, MLServer, fairrec-paper serve)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, ScoringError, plain
from fairrec.core.options import spelled
from fairrec.scoring.models.model import ModelInput
from fairrec.scoring.models.tensors import (
    DATATYPES,
    TensorSpec,
    chosen_output,
    datatype_of,
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
    r"(?P<server>.*)/v2/models/(?P<model>[^/]+)(/versions/(?P<version>[^/]+))?(/infer)?/?"
)


class OpenInference:
    """Typed tensors by name; the model says which it takes."""

    def __init__(self, asked: Asked) -> None:
        found = _PATH.fullmatch(asked.url)
        if found is None:
            raise InputError(
                f"invalid {spelled('endpoint')}: expected an address of the Open Inference "
                f"Protocol, http://HOST/v2/models/NAME, got {asked.url}. Give one, or another "
                f"{spelled('protocol')}."
            )
        self._server, self._name = found["server"], found["model"]
        self._version = found["version"] or ""
        self._model = f"{self._server}/v2/models/{self._name}"
        if self._version:
            self._model += f"/versions/{self._version}"
        self.url = f"{self._model}/infer"
        self._asked = asked
        self._specs: dict[str, TensorSpec] = {}
        self._output_types: dict[str, str] = {}

    def open(self, server: Asks) -> Seen:
        """Readiness of server and model, and the model's inputs and outputs."""
        # a gateway may show the model alone: 404 says nothing about it
        health = (f"{self._server}/v2/health/ready", f"{self._model}/ready")
        is_ready = [*map(server.is_there, health)]
        said = server.get(self._model)
        if said is None:
            raise ScoringError(f"there is no model {plain(repr(self._name))} ({self._model}: 404)")
        inputs, outputs = (_specs(said, name) for name in ("inputs", "outputs"))
        self._specs = {spec.name: spec for spec in inputs}
        self._output_types = {spec.name: spec.datatype for spec in outputs}
        if self._asked.output is not None and outputs:
            chosen_output([spec.name for spec in outputs], self._asked.output, self._asked.who)
        versions = listed_part(said, "versions")
        return Seen(
            model=str(part(said, "name") or self._name),
            version=self._version or ",".join(map(str, versions)),
            is_ready=any(is_ready) or None,
            inputs=inputs,
            outputs=outputs,
        )

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """What the model says it takes; all columns where it says nothing."""
        asked = self._asked
        if self._specs:
            inputs = inputs_for([*self._specs.values()], columns, asked.renamed, asked.who)
        else:
            untyped = all_inputs(columns, asked.renamed)
            specs = [TensorSpec(o.name, datatype_of(o.values), (-1,)) for o in untyped]
            self._specs = {spec.name: spec for spec in specs}
            renamed = {one.name: one.column for one in untyped}
            inputs = inputs_for(specs, columns, renamed, asked.who)
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
            spec = self._specs[name]
            tensors.append(
                {
                    "name": name,
                    "shape": [len(values), 1] if spec.is_column else [len(values)],
                    "datatype": spec.datatype,
                    "data": values,
                }
            )
        body: dict[str, Any] = {"inputs": tensors}
        if self._asked.output is not None:
            body["outputs"] = [{"name": self._asked.output}]
        return body

    def scores_in(self, reply: Any, n_pairs: int) -> Any:
        """The output that holds the scores, in its type."""
        outputs = part(reply, "outputs")
        if not isinstance(outputs, list) or not all(isinstance(one, dict) for one in outputs):
            raise ScoringError('the reply has no list of "outputs"')
        by_name = {str(one.get("name")): one for one in outputs}
        output = by_name[chosen_output([*by_name], self._asked.output, "The model")]
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


def _specs(said: Any, name: str) -> tuple[TensorSpec, ...]:
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
