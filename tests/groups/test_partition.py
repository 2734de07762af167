"""Partitions of all users by a few attributes."""

from __future__ import annotations

import numpy as np

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.group import Group
from fairrec.groups.grouping import Grouping, Partition
from fairrec.inputs.users import MISSING, Attribute
from tests.groups.small_grouping import grouping_of


def test_sums_over_groups_are_those_of_a_plain_loop():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, n, 200) for n in (3, 2, 5)]
    grouping = grouping_of(codes, min_users=10)
    values = rng.random(200)
    for positions in ((0,), (2, 0), (0, 1, 2)):
        partition = Partition.of(grouping, positions)
        sums = partition.sums(grouping.cells.sums(values))
        rows = [tuple(codes[at][user] for at in positions) for user in range(200)]
        assert len(partition) == len({*rows})
        for position, combination in enumerate(partition.codes.tolist()):
            is_member = np.array([row == tuple(combination) for row in rows])
            assert np.isclose(sums[position], values[is_member].sum())


def test_a_group_is_named_and_unknown_where_one_of_its_values_is():
    gender = Attribute("gender", np.array([0, 1, 0, 1], dtype=np.int32), ("F", MISSING))
    age = Attribute("age", np.array([0, 0, 1, 1], dtype=np.int32), (20, 30))
    grouping = Grouping.of([gender, age], AuditOptions(min_support=1, engine=Engine(threads=1)))
    partition = Partition.of(grouping, (1, 0))
    assert partition.names == ("age", "gender")
    assert partition.group(0) == Group.of(age=20, gender="F")
    assert partition.is_unknown.tolist() == [False, True, False, True]
    assert not Partition.of(grouping, (1,)).is_unknown.any()
