"""An order of equal scores that depends on user and item ids, and on nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from pytest import approx

from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.order import hash_ids, rows_in_order
from tests.metrics.metric_lists import ranked_lists, user


def lists_of(n_users: int, n_items: int, user_ids: list[object] | None = None) -> CandidateLists:
    """All items with one score for every user."""
    lists = ranked_lists([user([0] * n_items, [1] * n_items)] * n_users).candidates
    return replace(lists, user_ids=pl.Series(user_ids or range(n_users)))


def items_in_order(lists: CandidateLists) -> list[list[int]]:
    ids = lists.item_ids.gather(lists.items[rows_in_order(lists)]).to_list()
    return [ids[a:b] for a, b in zip(lists.offsets[:-1], lists.offsets[1:], strict=True)]


def test_hashes_are_those_of_the_text_in_every_process_and_version():
    # FNV-1a and the finaliser of SplitMix64, reckoned by hand in Python's integers
    def slow(text: str) -> int:
        key, mask = 0xCBF29CE484222325, (1 << 64) - 1
        for byte in text.encode():
            key = (key ^ byte) * 0x100000001B3 & mask
        key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9 & mask
        key = (key ^ (key >> 27)) * 0x94D049BB133111EB & mask
        return key ^ (key >> 31)

    texts = ["", "a", "ü", "u17", "007", "日本"]
    assert hash_ids(pl.Series(texts)).tolist() == [slow(text) for text in texts]
    assert hash_ids(pl.Series([-3, 10**18])).tolist() == [slow("-3"), slow(str(10**18))]
    assert len(hash_ids(pl.Series([], dtype=pl.String))) == 0


def test_each_user_has_an_order_of_their_own():
    orders = items_in_order(lists_of(400, 5))
    first = np.bincount([order[0] for order in orders], minlength=5) / 400
    assert first == approx([0.2] * 5, abs=0.07)
    assert items_in_order(lists_of(2, 5, [7, 7]))[0] == items_in_order(lists_of(2, 5, [7, 8]))[0]
    assert items_in_order(lists_of(1, 5, ["7"])) == items_in_order(lists_of(1, 5, [7]))


def test_different_scores_come_first_by_score():
    lists = ranked_lists([user([0] * 4, [1, 3, 1, 2])]).candidates
    (order,) = items_in_order(lists)
    assert order[:2] == [1, 3]
    assert {*order[2:]} == {0, 2}
