from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from fairrec.groups.cover import cover, padded_size

n_values_strategy = st.lists(st.integers(1, 40), min_size=1, max_size=9)


@given(n_values_strategy, st.integers(1, 4), st.sampled_from([4, 60, 1000, 100_000]))
def test_every_set_of_attributes_is_read_exactly_once(n_values, depth, room):
    read = [subset for block in cover(n_values, depth, room) for subset in block.subsets]
    sizes = range(1, min(depth, len(n_values)) + 1)
    wanted = [s for size in sizes for s in combinations(range(len(n_values)), size)]
    assert sorted(read) == sorted(wanted)


@given(n_values_strategy, st.integers(1, 4), st.sampled_from([4, 60, 1000, 100_000]))
def test_a_block_fits_the_room_or_holds_a_single_set(n_values, depth, room):
    for block in cover(n_values, depth, room):
        assert all(set(subset) <= set(block.attributes) for subset in block.subsets)
        if padded_size(block.attributes, n_values) > room:
            assert block.subsets == (block.attributes,)


def test_few_blocks_cover_all_triples_of_24_attributes():
    n_values = [2 + i % 7 for i in range(24)]
    n_triples = 24 * 23 * 22 // 6
    assert len(cover(n_values, 3)) < n_triples / 10
