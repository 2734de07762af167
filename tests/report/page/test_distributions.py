"""Who was audited."""

from __future__ import annotations

import fairrec
from tests.builders import two_groups
from tests.report.page.planted_page import view_of


def test_values_are_in_the_order_of_their_numbers_and_an_empty_one_is_seen():
    groups = ["City 10", "City 2", "", None] * 25
    predictions, users = two_groups(100, group=groups)
    result = fairrec.audit(
        predictions,
        users=users,
        by="group",
        min_support=2,
        statistics=fairrec.Statistics(permutations=9),
    )
    (part,) = view_of(result).distributions
    shown = [bar.value for bar in part.bars]
    assert shown == ["(empty)", "City 2", "City 10", "(missing)"]


def test_small_and_missing_values_are_marked():
    groups = ["even", "odd"] * 48 + ["rare"] + [None] * 3
    predictions, users = two_groups(100, group=groups)
    result = fairrec.audit(
        predictions,
        users=users,
        by="group",
        min_support=2,
        statistics=fairrec.Statistics(permutations=9),
    )
    (part,) = view_of(result).distributions
    assert [(bar.value, bar.users, bar.is_small, bar.is_missing) for bar in part.bars] == [
        ("even", "48", False, False),
        ("odd", "48", False, False),
        ("rare", "1", True, False),
        ("(missing)", "3", False, True),
    ]
    assert part.about == "4 values, missing for 3 users, 1 value with fewer than 2 users"
