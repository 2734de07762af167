"""Lists in one flat array."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.inputs.ids import bounds_of, gather_lists


def test_bounds_say_where_each_list_begins_and_ends():
    assert bounds_of(np.array([2, 0, 3])).tolist() == [0, 2, 2, 5]
    assert bounds_of(np.array([], dtype=np.int64)).tolist() == [0]


@given(lists=st.lists(st.lists(st.integers(0, 99), max_size=4), max_size=8), data=st.data())
def test_some_lists_are_one_after_the_other_as_in_a_loop(lists, data):
    chosen = data.draw(st.lists(st.integers(0, max(len(lists) - 1, 0)), max_size=9))
    chosen = chosen if lists else []
    flat = np.array([number for one in lists for number in one], dtype=np.int64)
    offsets = bounds_of(np.array([len(one) for one in lists], dtype=np.int64))
    taken = gather_lists(flat, offsets, np.array(chosen, dtype=np.int64))
    assert taken.tolist() == [number for at in chosen for number in lists[at]]


def test_all_lists_in_their_order_are_not_copied_and_not_to_be_written_to():
    flat, offsets = np.arange(4.0), np.array([0, 1, 4])
    whole = gather_lists(flat, offsets, np.array([0, 1]))
    assert np.shares_memory(whole, flat)
    with pytest.raises(ValueError, match="read-only"):
        whole[0] = 9
    # the array itself stays as it is
    flat[0] = 9
    assert not np.shares_memory(gather_lists(flat, offsets, np.array([1, 0])), flat)
