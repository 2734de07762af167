"""Protocols of model servers: what is sent and read."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import fairrec
from fairrec.core.errors import InputError, ScoringError
from fairrec.scoring.protocols import PROTOCOLS
from tests.scoring.http.served_world import N_USERS, FaultyServer, answer_of, audit, in_process

PATHS = {"json": "", "oip": "/v2/models/m", "tfserving": "/v1/models/m"}
QUICK = {"rows_per_call": 400}
COLUMNS = {"user_id": np.array([7, 8]), "item_id": np.array(["1", "2"], dtype=object)}


class Said:
    """Answers for a server with given JSON."""

    def __init__(self, **pages: Any) -> None:
        self._pages = {name.replace("_", "/"): page for name, page in pages.items()}

    def get(self, url: str) -> Any:
        return self._pages.get(url.partition("host/")[2])

    def is_there(self, url: str) -> bool:
        return True


def tensor(name: str, datatype: str, *shape: Any) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": [*shape]}


def wire(protocol: str, path: str, **options: Any) -> Any:
    renamed, output = options.get("renamed", {}), options.get("output")
    return PROTOCOLS[protocol](f"http://host{path}", renamed, output, "It")


@pytest.mark.parametrize("protocol", list(PATHS))
def test_every_protocol_gives_the_result_of_the_function(protocol, server: FaultyServer):
    url, tag = server.address("plain", PATHS[protocol])
    result = audit(fairrec.Endpoint(url, protocol=protocol, **QUICK))
    assert answer_of(result) == answer_of(audit(in_process))
    assert sum(map(len, server.batches(tag))) == N_USERS


@pytest.mark.parametrize(
    ("mode", "protocol", "path", "says"),
    [
        ("plain", "oip", "/v2/models/other", "there is no model 'other'"),
        ("loading", "tfserving", "/v1/models/m", "no version of the model 'm' is available"),
        ("not-ready", "oip", "/v2/models/m", "HTTP 503 Service Unavailable: still loading"),
    ],
)
def test_a_model_that_is_not_there_is_said_before_anything_is_asked(
    mode, protocol, path, says, server: FaultyServer
):
    url, tag = server.address(mode, path)
    with pytest.raises(ScoringError, match="is not ready") as caught:
        audit(fairrec.Endpoint(url, protocol=protocol, **QUICK, retries=0))
    assert says in str(caught.value)
    assert server.batches(tag) == []


def test_a_model_that_still_loads_is_waited_for(server: FaultyServer, monkeypatch):
    monkeypatch.setattr("fairrec.scoring.http_client.FIRST_WAIT", 0.01)
    url, _ = server.address("not-ready", PATHS["oip"])
    result = audit(fairrec.Endpoint(url, **QUICK))
    assert result.summary.search.faults == {"HTTP 503": 3}


def test_oip_sends_typed_tensors_of_the_shape_the_model_asks_for():
    one = wire("oip", "/v2/models/m/versions/3/infer")
    assert one.url == "http://host/v2/models/m/versions/3/infer"
    seen = one.open(
        Said(
            v2_models_m_versions_3={
                "name": "m",
                "inputs": [tensor("user_id", "BYTES", -1), tensor("item_id", "INT32", -1, 1)],
                "outputs": [tensor("score", "FP32", -1, 1)],
            }
        )
    )
    assert (seen.model, seen.version, seen.is_ready) == ("m", "3", True)
    inputs = {one.name: one.values for one in one.bind(COLUMNS)}
    (users, items) = one.body(inputs)["inputs"]
    assert users.pop("data").tolist() == ["7", "8"]
    assert items.pop("data").tolist() == [1, 2]
    assert users == tensor("user_id", "BYTES", 2)
    assert items == tensor("item_id", "INT32", 2, 1)


def test_oip_refuses_missing_numbers_which_it_cannot_send():
    one = wire("oip", "/v2/models/m")
    one.open(Said(v2_models_m={"name": "m"}))
    with pytest.raises(InputError, match="cannot send"):
        one.bind({**COLUMNS, "height": np.array([1.5, np.nan])})


def reply(datatype: str, shape: list[Any], data: Any, name: str = "score") -> dict[str, Any]:
    return {"outputs": [{"name": name, "datatype": datatype, "shape": shape, "data": data}]}


def test_oip_reads_numbers_in_the_type_they_were_written_in():
    one = wire("oip", "/v2/models/m")
    found = one.read_scores(reply("FP32", [2], [0.1, 2]), 2)
    assert found.tolist() == [float(np.float32(0.1)), 2.0]
    assert one.read_scores(reply("FP64", [2, 1], [[0.1], [2.5]]), 2).tolist() == [0.1, 2.5]
    assert one.read_scores(reply("INT64", [2], [3, 4]), 2).tolist() == [3, 4]
    # what is too large is infinite, and refused where users are known; warnings are errors here
    assert one.read_scores(reply("FP16", [2], [1e30, 0.5]), 2).tolist() == [np.inf, 0.5]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({}, 'the reply has no "outputs"'),
        ({"outputs": [1]}, "cannot be read"),
        (reply("FP32", [3], [1, 2, 3]), "shape [3] for 2 pairs"),
        (reply("FP32", [2, 2], [1, 2, 3, 4]), "shape [2, 2] for 2 pairs"),
        (reply("FP32", [2], None), 'the reply has no "data"'),
        (
            {
                "outputs": reply("FP32", [2], [1, 2], "a")["outputs"]
                + reply("FP32", [2], [1, 2], "b")["outputs"]
            },
            "2 outputs (a, b)",
        ),
    ],
)
def test_oip_replies_that_are_none_are_refused(said, says):
    with pytest.raises(ScoringError, match=re.escape(says)):
        wire("oip", "/v2/models/m").read_scores(said, 2)


@pytest.mark.parametrize(
    "page",
    [
        {"versions": 12},
        {"inputs": [1]},
        {"outputs": [tensor("s", "FP32") | {"shape": 3}]},
        [1],
    ],
    ids=str,
)
def test_oip_metadata_of_another_form_is_an_error_in_words(page):
    with pytest.raises(ScoringError, match="its metadata cannot be read: "):
        wire("oip", "/v2/models/m").open(Said(v2_models_m=page))


def test_tensorflow_serving_is_asked_in_columns_by_its_signature():
    one = wire("tfserving", "/v1/models/m/versions/2:predict")
    assert one.url == "http://host/v1/models/m/versions/2:predict"

    def dims(*sizes: int) -> dict[str, Any]:
        return {"dim": [{"size": str(size)} for size in sizes], "unknown_rank": False}

    signature = {
        "inputs": {
            "user_id": {"dtype": "DT_INT64", "tensor_shape": dims(-1, 1)},
            "item_id": {"dtype": "DT_STRING", "tensor_shape": dims(-1)},
        },
        "outputs": {"score": {"dtype": "DT_FLOAT", "tensor_shape": dims(-1, 1)}},
    }
    seen = one.open(
        Said(
            v1_models_m_versions_2={
                "model_version_status": [{"version": "2", "state": "AVAILABLE"}]
            },
            v1_models_m_versions_2_metadata={
                "metadata": {"signature_def": {"signature_def": {"serving_default": signature}}}
            },
        )
    )
    assert (seen.version, seen.is_ready) == ("2", True)
    assert [str(spec) for spec in seen.inputs] == ["user_id INT64 [-1, 1]", "item_id BYTES [-1]"]
    body = one.body({one.name: one.values for one in one.bind(COLUMNS)})
    assert body["signature_name"] == "serving_default"
    assert body["inputs"]["user_id"].tolist() == [[7], [8]]
    assert body["inputs"]["item_id"].tolist() == ["1", "2"]
    assert one.read_scores({"outputs": [[0.5], [1.5]]}, 2).tolist() == [0.5, 1.5]
    assert one.read_scores({"outputs": {"score": [0.5, 1.5], "x": [1, 1]}}, 2).tolist() == [
        0.5,
        1.5,
    ]
    with pytest.raises(ScoringError, match='no "outputs"'):
        one.read_scores({"predictions": [1, 2]}, 2)


def test_features_are_sent_beside_the_ids_by_the_names_asked_for(server: FaultyServer):
    url, _ = server.address("features")
    before = len(server.log.read_text())
    model = fairrec.Endpoint(
        url,
        protocol="json",
        features="users:years,users:gender",
        inputs={"age": "years"},
        rows_per_call=10_000,
    )
    audit(model)
    assert "['age', 'gender', 'item_id', 'user_id']" in server.log.read_text()[before:]
