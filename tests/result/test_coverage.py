from __future__ import annotations

import numpy as np

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.result.summary import SMALL_VALUES_SHOWN, VALUES_SHOWN, attribute_summaries, coverage

# a: 4 of x, 2 of y, 1 of z; nobody has z with q
FIRST = Attribute("a", np.array([0, 0, 0, 0, 1, 1, 2]), ("x", "y", "z"), n_missing=1)
SECOND = Attribute("b", np.array([0, 0, 1, 1, 0, 1, 0]), ("p", "q"), binning="width 20")


def grouping(*attributes: Attribute, min_support: float = 2) -> Grouping:
    return Grouping.of(
        attributes, AuditOptions(depth=2, min_support=min_support, engine=Engine(threads=1))
    )


def test_groups_and_users_below_the_support_are_counted():
    found = coverage(grouping(FIRST, SECOND), 2)
    assert (found.min_support, found.min_users) == (2, 2)
    # of the values x, y, p and q are large enough, z is not; of pairs only x with p and with q
    depths = {size: (one.n_groups, one.n_groups_below) for size, one in found.by_depth.items()}
    assert depths == {"1": (4, 1), "2": (2, 3)}
    assert (found.n_full_possible, found.n_full_observed, found.n_full) == ("6", 5, 2)
    assert found.n_users_below == 3


def test_a_share_of_users_is_told_as_it_was_given():
    found = coverage(grouping(FIRST, SECOND, min_support=0.5), 0.5)
    # 4 of 7
    assert (found.min_support, found.min_users) == (0.5, 4)


def test_values_are_told_with_their_users_the_largest_first():
    first, second = attribute_summaries(grouping(FIRST, SECOND)).values()
    assert first.values == {"x": 4, "y": 2, "z": 1}
    assert [*first.values] == ["x", "y", "z"]
    assert first.small_values == {"z": 1}
    assert (first.n_values, first.n_values_below_support, first.n_missing) == (3, 1, 1)
    assert (first.binning, second.binning) == (None, "width 20")
    assert second.small_values == {}


def test_of_very_many_values_the_largest_are_named():
    n_users = np.arange(1, 101)
    codes = np.repeat(np.arange(100), n_users)
    many = Attribute("a", codes, tuple(f"v{i}" for i in range(100)))
    (found,) = attribute_summaries(grouping(many, min_support=61)).values()
    assert [*found.values.values()] == [*range(100, 100 - VALUES_SHOWN, -1)]
    assert [*found.small_values.values()] == [*range(60, 60 - SMALL_VALUES_SHOWN, -1)]
    assert found.n_values_below_support == 60
