"""What can be found and ruled out, as it can be reckoned by hand."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest

from fairrec.auditing.plan_file import Spread
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import build_grouping
from fairrec.inputs.tables import Table
from fairrec.inputs.users import read_users
from fairrec.metrics.parsing import parse_metric
from fairrec.planning.expectations import MOST_GROUPS, Outlook

USERS = pl.DataFrame(
    {"user_id": range(1000), "gender": ["F", "M"] * 500, "age": [10, 20, 20, 20, 20] * 200}
)
NDCG = parse_metric("ndcg@5")
ALPHA = 0.05
HARM = 0.8
"""What the worse end has of the level of the test; intervals have half of it at each end."""


def expected(*about) -> pl.DataFrame:
    return pl.DataFrame([row.model_dump() for row in Outlook(*about).expected])


def quantile(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


def grouping(by: str, **options):
    users = read_users(Table(USERS, "users"), by.split(","))
    everyone = users.attributes(np.arange(len(USERS)))
    return build_grouping(everyone, AuditOptions(**options))


def test_a_group_of_half_is_found_at_the_harm_that_can_be_reckoned_by_hand():
    made = expected([parse_metric("ndcg@10")], grouping("gender"), AuditOptions(), {})
    # two groups, one metric, one depth and one class of sizes: each end is divided by two tests
    error = math.sqrt(1 / 500 + 1 / 500)
    harm = (quantile(1 - ALPHA * HARM / 2) + quantile(0.8)) * error
    # by its own error a group must stand out a little further
    median = quantile(1 - ALPHA / 4) * error
    certified = median + quantile(0.8) * error
    assert made.rows() == [
        ("ndcg@10", 500, 2, *(pytest.approx(size, rel=0.01) for size in (harm, certified, median)))
    ]


@pytest.mark.parametrize(("mean", "is_found"), [(0.5, True), (0.99, True), (0.01, False)])
def test_nobody_is_worse_by_more_than_the_mean_allows(mean, is_found):
    spread = {"ndcg@5": Spread(sd=0.09, mean=mean)}
    made = expected([parse_metric("ndcg")], grouping("gender"), AuditOptions(), spread)
    assert (made["harm"].item() is not None) == is_found


def test_permutations_that_cannot_reach_the_level_show_nothing():
    # 19 permutations can show a p-value of 1/20
    for permutations, is_enough in ((18, False), (19, True)):
        options = AuditOptions(permutations=permutations)
        made = expected([parse_metric("ndcg")], grouping("gender"), options, {})
        assert (made["harm"].item() is not None) == is_enough
        assert (made["certified"].item() is not None) == is_enough


def needed(by: str, spread: Spread | None = None, **options):
    of_metric = {"ndcg@5": spread or Spread(sd=0.35, mean=0.3)}
    chosen = {"depth": 1, "min_support": 10, "tolerance": 0.05, **options}
    return Outlook([NDCG], grouping(by, **chosen), AuditOptions(**chosen), of_metric).needed


def test_the_users_needed_can_be_reckoned_by_hand():
    """A rate of one half is nearly normal: the harm falls with the root of the users."""
    rows = needed("gender", Spread(sd=0.5, mean=0.5))
    assert [row.group for row in rows] == [{"gender": "F"}, {"gender": "M"}]
    # two groups in one class, two tails
    reach = quantile(1 - ALPHA / 4) + quantile(0.8)
    times = (reach * 0.5 * math.sqrt(2 / 500) / 0.05) ** 2
    for row in rows:
        assert row.times == pytest.approx(times, rel=0.05)
        assert row.users_needed == pytest.approx(1000 * times, rel=0.06)
        assert (row.users, row.tolerance) == (500, 0.05)


def test_users_that_are_enough_are_left_at_that():
    for row in needed("gender", tolerance=0.2):
        assert (row.times, row.users_needed) == (1.0, 1000)


def test_what_no_number_of_users_rules_out_is_told():
    for row in needed("gender", tolerance=1e-5):
        assert (row.times, row.users_needed) == (None, None)
    for row in needed("gender", permutations=18):
        assert (row.times, row.users_needed) == (None, None)


def test_what_matters_is_compared_where_it_is_known_in_units_of_the_metric():
    assert needed("gender", tolerance=None) == ()
    assert needed("gender", tolerance="5%", spread=Spread(sd=0.35)) == ()
    assert {row.tolerance for row in needed("gender", tolerance="5%")} == {0.015}
    chosen = AuditOptions(tolerance=AuditOptions(tolerance="0.05").tolerance)
    assert Outlook([NDCG], grouping("gender"), chosen, {}).needed == ()


def test_of_many_groups_the_largest_and_the_smallest_are_told():
    users = pl.DataFrame({"user_id": range(1000), "town": [at % 45 for at in range(1000)]})
    attributes = read_users(Table(users, "users"), ["town"]).attributes(np.arange(1000))
    chosen = AuditOptions(tolerance=0.05)
    told = Outlook([NDCG], build_grouping(attributes, chosen), chosen, {"ndcg@5": Spread(sd=0.3)})
    sizes = [row.users for row in told.needed]
    assert len(sizes) == MOST_GROUPS
    assert (sizes[0], sizes[-1]) == (23, 22)
