"""The Open Inference Protocol: what is sent and read."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import fairrec
from fairrec.core.errors import InputError, ScoringError
from tests.scoring.http.served_world import FaultyServer, audit
from tests.scoring.wire.said import COLUMNS, PATHS, QUICK, Said, tensor, wire


def test_a_model_that_still_loads_is_waited_for(server: FaultyServer):
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


def test_oip_without_metadata_sends_the_types_of_the_columns():
    one = wire("oip", "/v2/models/m")
    one.open(Said(v2_models_m={"name": "m"}))
    inputs = {one.name: one.values for one in one.bind(COLUMNS)}
    assert [part["datatype"] for part in one.body(inputs)["inputs"]] == ["INT64", "BYTES"]


def test_oip_refuses_missing_numbers_which_it_cannot_send():
    one = wire("oip", "/v2/models/m")
    one.open(Said(v2_models_m={"name": "m"}))
    with pytest.raises(InputError, match="cannot say so"):
        one.bind({**COLUMNS, "height": np.array([1.5, np.nan])})


def reply(datatype: str, shape: list[Any], data: Any, name: str = "score") -> dict[str, Any]:
    return {"outputs": [{"name": name, "datatype": datatype, "shape": shape, "data": data}]}


def test_oip_reads_numbers_in_the_type_they_were_written_in():
    one = wire("oip", "/v2/models/m")
    found = one.read_scores(reply("FP32", [2], [0.1, 2]), 2)
    assert found.tolist() == [float(np.float32(0.1)), 2.0]
    assert one.read_scores(reply("FP64", [2, 1], [[0.1], [2.5]]), 2).tolist() == [0.1, 2.5]
    assert one.read_scores(reply("INT64", [2], [3, 4]), 2).tolist() == [3, 4]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({}, 'no list of "outputs"'),
        ([1], 'no list of "outputs"'),
        ({"outputs": [1]}, 'no list of "outputs"'),
        (reply("FP32", [3], [1, 2, 3]), "shape [3] for 2 pairs"),
        (reply("FP32", [2, 2], [1, 2, 3, 4]), "shape [2, 2] for 2 pairs"),
        (reply("FP32", [2], None), 'no list of "data"'),
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


def test_oip_reads_no_number_as_infinite_without_a_word():
    # warnings are errors here
    found = wire("oip", "/v2/models/m").read_scores(reply("FP16", [2], [1e30, 0.5]), 2)
    assert found.tolist() == [np.inf, 0.5]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"versions": 5}, '"versions" that cannot be read: 5'),
        ({"versions": "12"}, '"versions" that cannot be read: 12'),
        ({"inputs": 7}, '"inputs" that cannot be read: 7'),
        ({"inputs": {"user_id": {}}}, '"inputs" that cannot be read'),
        ({"inputs": [1]}, '"inputs" that cannot be read: 1'),
        ({"outputs": [tensor("s", "FP32") | {"shape": 3}]}, '"outputs" that cannot be read'),
        ({"inputs": [tensor("u", "INT64", "abc")]}, '"shape" that cannot be read: abc'),
        ({"inputs": [tensor("u", "INT64", "9" * 5000)]}, '"shape" that cannot be read: 999'),
        ({"inputs": [tensor("u", "INT64", [2])]}, '"shape" that cannot be read: [2]'),
        ({"inputs": [tensor("u", "INT64", 1.5)]}, '"shape" that cannot be read: 1.5'),
    ],
)
def test_oip_metadata_that_is_none_is_an_error_in_words(said, says):
    with pytest.raises(ScoringError, match=re.escape(says)):
        wire("oip", "/v2/models/m").open(Said(v2_models_m=said))


def test_oip_sizes_may_be_text_or_missing():
    said = {"inputs": [tensor("u", "INT64", "-1", "1"), tensor("i", "INT64", None)]}
    seen = wire("oip", "/v2/models/m").open(Said(v2_models_m=said))
    assert [one.shape for one in seen.inputs] == [(-1, 1), (-1,)]


def test_oip_asks_for_the_output_that_was_named():
    one = wire("oip", "/v2/models/m", output="second")
    said = {"name": "m", "outputs": [tensor("first", "FP32", -1), tensor("second", "FP32", -1)]}
    one.open(Said(v2_models_m=said))
    inputs = {one.name: one.values for one in one.bind(COLUMNS)}
    assert one.body(inputs)["outputs"] == [{"name": "second"}]
    other = wire("oip", "/v2/models/m", output="third")
    with pytest.raises(ScoringError, match="third"):
        other.open(Said(v2_models_m=said))
