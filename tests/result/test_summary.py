"""The summary of an audit: coverage, notes, users who are missing, and the search."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.result.summary import (
    coverage,
)
from tests.builders import audit, one_each, two_groups

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
    assert (found.n_full_observed, found.n_full) == (5, 2)
    assert found.n_users_below == 3


def notes(predictions=None, users=None, by="group", **options) -> tuple[str, ...]:
    given = two_groups()
    predictions = given[0] if predictions is None else predictions
    return audit(predictions, given[1] if users is None else users, by, **options).warnings


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"permutations": 0}, "no permutations: the null distribution, p-values"),
        ({"permutations": 9}, "9 permutations cannot give a p-value of 0.05; use at least 19"),
    ],
)
def test_tests_that_cannot_find_anything_are_noted(options, says):
    (said,) = notes(**options)
    assert said.startswith(says)


@pytest.mark.parametrize(("n_last", "is_told"), [(8, True), (7, True), (5, False), (0, False)])
def test_scores_that_put_what_is_relevant_last_are_to_be_checked(n_last, is_told):
    lists = [
        (user, item, item / 10, int(item == (0 if user % 10 < n_last else 9)))
        for user in range(100)
        for item in range(10)
    ]
    predictions = pl.DataFrame(lists, schema=["user_id", "item_id", "score", "label"], orient="row")
    users = pl.DataFrame({"user_id": range(100), "group": ["a", "b"] * 50})
    said = notes(predictions, users, metrics="auc", permutations=99)
    checks = [note for note in said if note.startswith("check: the mean auc is ")]
    assert len(checks) == is_told
    assert all("Higher scores must mean better" in check for check in checks)


def missing_half(n_groups: int):
    """Twelve users a group; of the first group nobody has a relevant item."""
    n_users = 12 * n_groups
    predictions = one_each({user: None if user < 12 else 1 + user % 2 for user in range(n_users)})
    users = pl.DataFrame(
        {"user_id": range(n_users), "group": [f"g{u // 12:02}" for u in range(n_users)]}
    )
    return audit(predictions, users, "group", permutations=99, min_support=2)


def test_groups_that_differ_are_findings_of_shares():
    (missing,) = missing_half(6).summary.missing
    assert missing.is_tested
    (finding,) = missing.findings
    assert finding.group == {"group": "g00"}
    assert (finding.value, finding.difference, finding.support) == (1, 1, 12)
    assert finding.p_adjusted <= 0.05
    low, high = finding.interval
    assert 0 < low <= 1 <= high
