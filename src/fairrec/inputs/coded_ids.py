"""Ids of many rows as codes, where a column holds each different text once and a number a row."""

from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.core.arrays import CodeArray
from fairrec.inputs.ids import encode, numbered
from fairrec.inputs.tables import ids_as_integers_or_text


def encode_ids(ids: pl.Series, where: str) -> tuple[CodeArray, pl.Series]:
    """Codes from 0 in the order of the sorted distinct ids, and those ids as they are compared.

    Where the column has numbers for its texts already, only different texts are looked at.

    >>> codes, keys = encode_ids(pl.Series(["b", "a", "b"], dtype=pl.Categorical), "here")
    >>> codes.tolist(), keys.to_list()
    ([1, 0, 1], ['a', 'b'])
    """
    if not isinstance(ids.dtype, pl.Categorical | pl.Enum) or ids.null_count():
        return encode(ids_as_integers_or_text(ids, where))
    numbers, rows = numbered(ids)
    # two texts may be one id: '1' and '1.0'
    codes, keys = encode(ids_as_integers_or_text(ids.gather(rows), where))
    code_of_number = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.int32)
    code_of_number[numbers[rows]] = codes
    return code_of_number[numbers], keys
