"""A request for scores: checked before it takes memory, and refused in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import plain

MOST_BYTES = 16_000_000
MOST_DROPPED = 4 * MOST_BYTES
"""Bytes of a longer request that are read and dropped: who still sends does not hear a reply."""
MOST_VALUES = 1_000_000
"""Lists, objects and commas of a request; each costs some 100 bytes once it is read."""


class RefusedError(Exception):
    """A request that gets an answer other than scores."""

    def __init__(self, code: int, words: str) -> None:
        self.code, self.words = code, words


@dataclass(frozen=True, slots=True)
class AskedPairs:
    """The pairs to score, and the id that the client gave its request."""

    users: AnyArray
    items: AnyArray
    request_id: str | None


def asked_pairs(content: bytes, datatypes: Mapping[str, str]) -> AskedPairs:
    """What a request asks for.

    Parameters
    ----------
    datatypes : of the inputs `user_id` and `item_id`, INT64 or BYTES
    """
    if sum(map(content.count, (b"[", b"{", b","))) > MOST_VALUES:
        raise RefusedError(
            413, f"the request has more than {MOST_VALUES:,} values. Ask for fewer pairs at once"
        )
    try:
        asked = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise RefusedError(400, f"the request is no JSON: {plain(error)}") from error
    if not isinstance(asked, dict) or not isinstance(asked.get("inputs"), list):
        raise RefusedError(400, 'the request has no list of "inputs"')
    users, items = (_ids(asked["inputs"], name, datatypes[name]) for name in datatypes)
    if len(users) != len(items):
        raise RefusedError(400, f"{len(users)} user ids, but {len(items)} item ids")
    request_id = asked.get("id")
    return AskedPairs(users, items, request_id if isinstance(request_id, str) else None)


def _ids(inputs: list[Any], name: str, datatype: str) -> AnyArray:
    """The ids of one input, of the type that the run has."""
    found = [one for one in inputs if isinstance(one, dict) and one.get("name") == name]
    if len(found) != 1 or not isinstance(data := found[0].get("data"), list):
        raise RefusedError(400, f'there must be one input "{name}" with a list of "data"')
    if data and isinstance(data[0], list):
        is_even = all(isinstance(row, list) and len(row) == len(data[0]) for row in data)
        data = [one for row in data for one in row] if is_even else [None]
    # looked at one by one: as one array, the longest text would make all as long
    wrong = RefusedError(400, f'the input "{name}" must be a list of {datatype}')
    if not {type(one) for one in data} <= {int if datatype == "INT64" else str}:
        raise wrong
    try:
        return np.array(data, dtype=np.int64 if datatype == "INT64" else object)
    except OverflowError:
        raise wrong from None
