"""JSON of arrays, and what servers take for JSON."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from fairrec.scoring.http_client import from_json, to_json


def test_what_is_missing_is_null_in_json():
    sent = {
        "height": np.array([1.5, np.nan]),
        "age": np.array([7, None], dtype=object),
        "column": np.array([["a"], ["b"]], dtype=object),
        "every_other": np.arange(4)[::2],
    }
    assert json.loads(to_json(sent)) == {
        "height": [1.5, None],
        "age": [7, None],
        "column": [["a"], ["b"]],
        "every_other": [0, 2],
    }


def test_nan_is_read_though_it_is_no_json():
    scores = from_json(b'{"scores": [1, NaN, -Infinity]}')["scores"]
    assert scores[0] == 1
    assert math.isnan(scores[1])
    assert scores[2] == -math.inf


@pytest.mark.parametrize("text", [b"", b'{"scores": [1, 2', b"<html>", b"[" * 100_000, b'"\xff"'])
def test_what_is_no_json_is_a_value_error(text: bytes):
    with pytest.raises(ValueError):
        from_json(text)


def test_what_json_has_no_words_for_is_not_sent():
    with pytest.raises(TypeError, match="set"):
        to_json({"scores": {1, 2}})
