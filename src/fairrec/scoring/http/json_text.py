"""JSON of arrays, and what servers take for JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import orjson


def from_json(text: bytes) -> Any:
    """What JSON says; a ValueError where it is none.

    NaN is no JSON, but often written. It is read, and refused where the users are known.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            # the message of the first one does not repeat the text
            raise error from None


def to_json(body: Any) -> bytes:
    """JSON of what may hold arrays."""
    return orjson.dumps(body, default=_plain_array, option=orjson.OPT_SERIALIZE_NUMPY)


def _plain_array(value: Any) -> Any:
    """What orjson does not write by itself: arrays of text, and parts of larger arrays."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind == "O" else np.ascontiguousarray(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
