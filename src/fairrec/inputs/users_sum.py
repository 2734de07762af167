"""A checksum of users, whatever table they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import polars as pl


def users_sum(ids: pl.Series, labels: Iterable[pl.Series]) -> str:
    """The SHA-256 checksum of ids in their order, and of the named attributes in any.

    >>> a, b = pl.Series("a", ["x", "y"]), pl.Series("b", ["1", "2"])
    >>> users_sum(pl.Series([1, 2]), [a, b]) == users_sum(pl.Series(["1", "2"]), [b, a])
    True
    """
    digest = hashlib.sha256()
    for column in (ids.alias(""), *sorted(labels, key=lambda label: label.name)):
        text = column.cast(pl.String)
        digest.update(f"{len(column.name)} {column.name}\n".encode())
        # with the lengths, so that no value can run into the next one
        digest.update(text.str.len_bytes().to_numpy().astype(np.dtype("<u4")).tobytes())
        digest.update("".join(text.to_list()).encode())
    return digest.hexdigest()
