"""A doubt stands where some part has it and none shows that it is wrong."""

from __future__ import annotations

import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.parts.doubts import Doubts

RANKS = ("predictions", "ranks")


def test_a_doubt_that_a_part_has_cleared_is_none_whatever_the_order():
    has, cleared, silent = Doubts({RANKS: "look like ranks"}), Doubts({RANKS: None}), Doubts()
    for parts in ([has, cleared, silent], [cleared, has, has], [silent, has, cleared]):
        sum(parts, Doubts()).refuse()
    for parts in ([has, silent], [silent, has, has]):
        with pytest.raises(InputError, match="look like ranks"):
            sum(parts, Doubts()).refuse()


def test_doubts_add_up_in_any_grouping():
    a, b, c = Doubts({RANKS: "x"}), Doubts({("test", "items"): "y"}), Doubts({RANKS: None})
    assert dict((a + b + c).found) == dict((a + (b + c)).found)
    assert (a + b + c).found == {RANKS: None, ("test", "items"): "y"}
