"""What a request asks for, and requests that ask for nothing."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from fairrec_paper.models.server import MOST_VALUES, RefusedError, asked_pairs

NUMBERS = {"user_id": "INT64", "item_id": "INT64"}
TEXTS = {"user_id": "BYTES", "item_id": "BYTES"}


def request(users: Any, items: Any, **more: Any) -> bytes:
    inputs = [{"name": "item_id", "data": items}, {"name": "user_id", "data": users}]
    return json.dumps({"inputs": inputs, **more}).encode()


def test_ids_come_flat_or_in_rows_of_one_length():
    asked = asked_pairs(request([1, 2], [[3], [4]], id="a"), NUMBERS)
    assert (asked.users.tolist(), asked.items.tolist(), asked.request_id) == ([1, 2], [3, 4], "a")
    asked = asked_pairs(request([["a", "b"]], ["c", ""], id=5), TEXTS)
    assert (asked.users.tolist(), asked.items.tolist()) == (["a", "b"], ["c", ""])
    assert asked.request_id is None
    assert len(asked_pairs(request([], []), NUMBERS).users) == 0


@pytest.mark.parametrize("datatypes", [NUMBERS, TEXTS])
@pytest.mark.parametrize(
    "wrong",
    [[None], [True], [1.0], [2**63], [-(2**63) - 1], [[]], [["a"], [1]], [[1], 1], [1, [1]], [{}]],
)
def test_ids_of_another_type_are_refused(wrong, datatypes):
    with pytest.raises(RefusedError) as caught:
        asked_pairs(request(wrong, [1]), datatypes)
    assert caught.value.code == 400


@pytest.mark.parametrize("name", [None, 5, ["user_id"], {"user_id": 1}, "user", "USER_ID"])
def test_names_that_are_none_are_refused(name):
    content = json.dumps({"inputs": [{"name": name, "data": [1]}]}).encode()
    with pytest.raises(RefusedError) as caught:
        asked_pairs(content, NUMBERS)
    assert (caught.value.code, "user_id" in caught.value.words) == (400, True)


def test_an_input_given_twice_is_refused():
    content = json.loads(request([1], [2]))
    content["inputs"] *= 2
    with pytest.raises(RefusedError):
        asked_pairs(json.dumps(content).encode(), NUMBERS)


def test_a_request_of_too_many_values_is_refused_before_it_is_read():
    tracemalloc.start()
    with pytest.raises(RefusedError) as caught:
        asked_pairs(b"[" + b"[]," * MOST_VALUES + b"[]]", NUMBERS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.code == 413
    assert peak < 20_000_000


def test_one_long_text_does_not_make_all_as_long():
    tracemalloc.start()
    asked = asked_pairs(request(["x" * 100_000, *["u"] * 2000], ["i"] * 2001), TEXTS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(asked.users) == 2001
    assert peak < 20_000_000
