from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.inputs.tables import Table
from fairrec.inputs.users import read_users
from fairrec_paper.reproduction.subject import by_decade, full_combinations


def test_groups_are_full_combinations_with_enough_users():
    users = pl.DataFrame(
        {"user_id": range(6), "gender": [*"FFFMMM"], "age": ["1", "1", "2", "2", "2", "2"]}
    )
    attributes = read_users(Table(users, "users", None), ["gender", "age"]).attributes(np.arange(6))
    space = full_combinations(attributes, min_support=0.3)
    assert space.min_users == 2
    assert space.n_combinations == 2 * 2
    # two women of age 1 and three men of age 2
    assert sorted(space.lattice.n_users[space.full].tolist()) == [2, 3]
    assert len(full_combinations(attributes).full) == 3


def test_ages_by_tens_join_groups_and_missing_ones_stay_by_themselves():
    users = pl.DataFrame({"user_id": range(5), "age": [19, 21, 29, 8, None]})
    (age,) = read_users(Table(users, "users", None), ["age"]).attributes(np.arange(5))
    tens = by_decade(age)
    assert tens.labels.to_list() == ["10-19", "20-29", "20-29", "0-9", "(missing)"]
    assert [*tens.values] == ["0-9", "10-19", "20-29", "(missing)"]
