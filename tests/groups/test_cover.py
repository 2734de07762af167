from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.groups.cover import CUBE_CELLS, FEWEST_CUBE_CELLS, cover, padded_size, room_for

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


def test_no_cube_has_many_more_slots_than_there_are_cells():
    assert [room_for(n) for n in (1, 300, 5_000, 10**6)] == [
        *(FEWEST_CUBE_CELLS, FEWEST_CUBE_CELLS, 5_000, CUBE_CELLS)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_single_attributes_are_added_by_worth_for_the_room_they_take(seed):
    """As step by step: each time the attribute that is worth most and still fits."""
    rng = random.Random(seed)
    n_values = [rng.randint(1, 9) for _ in range(rng.randint(1, 40))]
    room, left, blocks = rng.choice([8, 100, 5_000]), [*range(len(n_values))], []
    while left:
        block = [left.pop(0)]
        while padded_size(block, n_values) <= room:
            fits = [one for one in left if padded_size((*block, one), n_values) <= room]
            if not fits:
                break
            best = max(fits, key=lambda one: 1 / math.log(n_values[one] + 1))
            block.append(best)
            left.remove(best)
        blocks.append(tuple(sorted(block)))
    assert [block.attributes for block in cover(n_values, 1, room)] == blocks
