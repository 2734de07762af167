"""TensorFlow Serving: what is sent and read."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fairrec.core.errors import ScoringError
from tests.scoring.wire.said import COLUMNS, Said, wire

AVAILABLE = {"model_version_status": [{"version": "2", "state": "AVAILABLE"}]}


@pytest.mark.parametrize(
    ("status", "signature", "says"),
    [
        ({"model_version_status": 5}, None, '"model_version_status" that cannot be read: 5'),
        ({"model_version_status": [5]}, None, "no version of the model 'm' is available"),
        (AVAILABLE, {"inputs": [1]}, '"inputs" that cannot be read: [1]'),
        (AVAILABLE, {"outputs": "x"}, '"outputs" that cannot be read: x'),
        (AVAILABLE, {"inputs": {"u": {"tensor_shape": {"dim": 5}}}}, '"dim" that cannot be read'),
        (
            AVAILABLE,
            {"inputs": {"u": {"tensor_shape": {"dim": [{"size": "abc"}]}}}},
            '"size" that cannot be read: abc',
        ),
    ],
)
def test_tensorflow_serving_metadata_that_is_none_is_an_error_in_words(status, signature, says):
    page = {"metadata": {"signature_def": {"signature_def": {"serving_default": signature}}}}
    said = Said(v1_models_m=status, v1_models_m_metadata=page)
    with pytest.raises(ScoringError, match=re.escape(says)):
        wire("tfserving", "/v1/models/m").open(said)


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
