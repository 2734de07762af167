from __future__ import annotations

import polars as pl
from pytest import approx

from fairrec.inputs.side_data import read_user_profiles
from fairrec.inputs.tables import Table

ITEMS = pl.DataFrame({"item_id": [1, 2, 3, 4], "categories": ["a", "a|b", "", "c"]})
HISTORY = pl.DataFrame({"user_id": [7, 7, 8, 7, 9], "item_id": [1, 2, 3, 2, 5]})


def test_a_taste_has_the_shares_of_the_categories_of_a_history():
    users = pl.Series([9, 7, 1, 8])
    tastes = read_user_profiles(Table(HISTORY, "history"), Table(ITEMS, "items"), users)
    found = []
    for at in tastes.of_list:
        mine = slice(tastes.offsets[at], tastes.offsets[at + 1])
        found.append(
            {} if at < 0 else dict(zip(tastes.codes[mine], tastes.shares[mine], strict=True))
        )
    # of nobody's own categories, and of nobody who is not there
    assert found[0] == found[2] == found[3] == {}
    assert found[1] == approx({0: 0.75, 1: 0.25})
    assert tastes.n_codes == 2
    assert tastes.for_lists([1, 1]).of_list.tolist() == [tastes.of_list[1]] * 2
