"""The table of changes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.comparison.paired_audits import judged
from fairrec.comparison.parts import RESERVED, change_table, refuse_reserved
from fairrec.core.errors import InputError
from tests.comparison.test_compared import DEPTH, ROWS, groups

CONDITIONS = pl.DataFrame({"who": [*"abcde"], "depth": DEPTH})


def test_rows_are_worst_first_and_what_is_not_known_is_null():
    found = judged(groups(*ROWS), DEPTH, True, 0.1, is_conclusive=True)
    table = change_table({"m": CONDITIONS, "n": CONDITIONS}, {"m": found, "n": found})
    assert table.columns == ["metric", "who", *(name for name in RESERVED if name != "metric")]
    mine = table.filter(pl.col("metric") == "n")
    assert mine["who"].to_list() == [*"cbeda"]
    assert mine["outcome"][0] == "lost by more"
    unknown = mine.filter(pl.col("who") == "e")
    assert unknown["simultaneous_low"].to_list() == [None]
    assert unknown["is_known"].to_list() == [False]
    assert np.allclose(mine["change"], mine["after"] - mine["before"])


def test_attributes_with_the_name_of_a_column_are_refused():
    refuse_reserved(["gender"])
    with pytest.raises(InputError, match="'before' has the name of a column"):
        refuse_reserved(["gender", "before"])
