"""What is planned, and what can be expected of it."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import FairRecError, InputError, UnknownNameError
from fairrec.groups.grouping import grouping_of
from fairrec.inputs.tables import Table
from fairrec.inputs.users import read_users
from fairrec.metrics.registry import parse_metric
from fairrec.result.plan_schema import PlannedGroups, Spread
from fairrec.workflows.plan import expectations

USERS = pl.DataFrame(
    {"user_id": range(1000), "gender": ["F", "M"] * 500, "age": [10, 20, 20, 20, 20] * 200}
)


def grouping(by: str, **options):
    users = read_users(Table(USERS, "users"), by.split(","))
    everyone = users.attributes(np.arange(len(USERS)))
    return grouping_of(everyone, AuditOptions.of(**options))


def test_a_group_of_half_is_found_at_the_harm_that_can_be_reckoned_by_hand():
    made = expectations([parse_metric("ndcg@10")], grouping("gender"), AuditOptions(), {})
    # two groups, one metric: 0.05 is divided by two tests and two sides
    critical = NormalDist().inv_cdf(1 - 0.05 / 4)
    error = math.sqrt(1 / 500 + 1 / 500)
    harm = (critical + NormalDist().inv_cdf(0.8)) * error
    # by its own error a group must stand out a little further
    assert made.rows() == [("ndcg@10", 500, 2, pytest.approx(harm, rel=0.01))]


@pytest.mark.parametrize(("mean", "is_found"), [(0.5, True), (0.99, True), (0.01, False)])
def test_nobody_is_worse_by_more_than_the_mean_allows(mean, is_found):
    spread = {"ndcg@5": Spread(sd=0.09, mean=mean)}
    made = expectations([parse_metric("ndcg")], grouping("gender"), AuditOptions(), spread)
    assert (made["harm"].item() is not None) == is_found


def test_a_rate_is_known_by_its_spread():
    """Half of 1,000 users with a hit rate of 5%: from a binomial table."""
    spread = {"hit@5": Spread(sd=math.sqrt(0.05 * 0.95), mean=0.05)}
    made = expectations([parse_metric("hit")], grouping("gender"), AuditOptions(), spread)
    error = math.sqrt(0.05 * 0.95 * (1 / 500 + 1 / 500))
    most = math.floor(500 * (0.05 - NormalDist().inv_cdf(1 - 0.05 / 4) * error))

    def power(rate: float) -> float:
        return sum(math.comb(500, n) * rate**n * (1 - rate) ** (500 - n) for n in range(most + 1))

    harm = made["harm"].item()
    assert power(0.05 - harm * 1.02) > 0.8 > power(0.05 - harm * 0.98)


def test_permutations_that_cannot_reach_the_level_show_nothing():
    for permutations, is_found in ((38, False), (39, True)):
        options = AuditOptions(permutations=permutations)
        made = expectations([parse_metric("ndcg")], grouping("gender"), options, {})
        assert (made["harm"].item() is not None) == is_found


def test_what_matters_is_planned_for_metrics_of_the_plan():
    made = fairrec.plan(users=USERS, by="gender", metrics="ndcg", matters="ndcg@5=0.03,5%")
    assert str(made.options["matters"]) == "ndcg@5=0.03,5%"
    with pytest.raises(InputError, match="What matters is given for 'auc', which is not audited"):
        fairrec.plan(users=USERS, by="gender", metrics="ndcg", matters="auc=0.03")


def test_without_a_spread_harm_is_in_standard_deviations():
    metrics, options = [parse_metric("ndcg")], AuditOptions()
    unknown = expectations(metrics, grouping("gender"), options, {})["harm"]
    known = expectations(metrics, grouping("gender"), options, {"ndcg@5": Spread(sd=0.5)})
    assert (known["harm"] * 2).to_list() == pytest.approx(unknown.to_list(), rel=1e-3)


def test_larger_groups_and_fewer_tests_need_a_smaller_difference():
    one = [parse_metric("ndcg")]
    few = expectations(one, grouping("age"), AuditOptions(), {})
    assert few["users"].to_list() == [200, 500]
    assert few["n_groups"].to_list() == [2, 1]
    assert few["harm"].is_sorted(descending=True)
    for more in (
        expectations([*one, parse_metric("auc")], grouping("age"), AuditOptions(), {}),
        expectations(one, grouping("age,gender"), AuditOptions(), {}).filter(pl.col("users") > 150),
        expectations(one, grouping("age"), AuditOptions(alpha=0.01), {}),
    ):
        of_ndcg = more.filter(metric="ndcg@5")
        assert of_ndcg["users"].to_list()[-2:] == [200, 500]
        assert (of_ndcg["harm"][-2:] > few["harm"]).all()


def test_without_tests_nothing_is_found():
    made = fairrec.plan(users=USERS, by="gender", metrics="ndcg", permutations=0)
    assert made.expectations.is_empty()
    assert made.expectations.columns == ["metric", "users", "n_groups", "harm"]
    pooled = fairrec.plan(users=USERS, by="gender", metrics="pooled_auc")
    assert pooled.expectations.is_empty()


def test_groups_are_counted_by_depth():
    made = fairrec.plan(users=USERS, by="age,gender", metrics="ndcg", min_support=150)
    assert made.facts.groups == (
        PlannedGroups(depth=1, n_groups=4, n_groups_below=0, smallest=200, median=500, largest=800),
        PlannedGroups(depth=2, n_groups=2, n_groups_below=2, smallest=400, median=400, largest=400),
    )
    assert (made.facts.n_users, made.facts.min_users) == (1000, 150)
    alone = fairrec.plan(users=USERS, by="age,gender", metrics="ndcg", min_support=450)
    assert alone.facts.groups[1] == PlannedGroups(depth=2, n_groups=0, n_groups_below=4)


def test_a_plan_says_all_that_was_decided_defaults_too():
    made = fairrec.plan(users=USERS, by="gender", metrics="NDCG,mrr@3", alpha="0.1", threads=1)
    usual = vars(AuditOptions())
    assert made.options == {
        "missing_lists": "zero",
        "by": ("gender",),
        "given": (),
        "metrics": ("ndcg@5", "mrr@3"),
        **{name: usual[name] for name in made.options if name in usual},
        "alpha": 0.1,
    }
    assert {"depth", "seed", "permutations", "correction"} <= {*made.options}
    assert "threads" not in made.options


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"users": None}, "users is missing: a plan says whom and what it tests."),
        ({"by": None}, "by is missing"),
        ({"metrics": None}, "metrics is missing"),
        ({"by": "gendre"}, "No attribute 'gendre'. Did you mean 'gender'?"),
        ({"metrics": "ndgc"}, "No metric 'ndgc'. Did you mean 'ndcg'?"),
        ({"alhpa": 0.1}, "No option 'alhpa'. Did you mean 'alpha'?"),
        ({"alpha": 2}, "invalid alpha: expected a number between 0 and 1, got 2"),
        ({"min_support": 5000}, "No group has 5,000 users"),
        ({"users": "nowhere.csv"}, "nowhere.csv: does not exist"),
        ({"columns": {"no.such": "x"}}, "No table 'no'."),
        ({"pilot": pl.DataFrame({"auc": [1.0]})}, "the pilot table: No column 'ndcg@5'."),
        ({"pilot": pl.DataFrame({"ndcg@5": [1.0, 1.0]})}, "is the same for everyone"),
        ({"pilot": pl.DataFrame({"ndcg@5": [1.0]})}, "is the same for everyone"),
        ({"pilot": pl.DataFrame({"ndcg@5": ["a", "b"]})}, "ndcg@5"),
        ({"better": {"ndgc": "lower"}}, "better: No metric 'ndgc'. Did you mean 'ndcg'?"),
    ],
)
def test_what_cannot_be_planned_is_told(options, says):
    with pytest.raises(FairRecError) as caught:
        fairrec.plan(**{"users": USERS, "by": "gender", "metrics": "ndcg", **options})
    assert says in str(caught.value)


def test_columns_of_values_are_planned_with_their_better_end():
    pilot = pl.DataFrame({"churn": [0.0, 1.0, 1.0], "watch": [3.0, 4.0, 9.0]})
    made = fairrec.plan(
        users=USERS, by="gender", metrics="churn,watch", better="churn=lower", pilot=pilot
    )
    assert made.options["better"] == {"churn": False}
    assert made.options["metrics"] == ("churn", "watch")
    assert {*made.expectations["metric"]} == {"churn", "watch"}
    with pytest.raises(UnknownNameError):
        fairrec.plan(users=USERS, by="gender", metrics="churn,watch")


def test_settings_hold_where_nothing_is_given(tmp_path):
    file = tmp_path / "fairrec.toml"
    USERS.write_parquet(tmp_path / "users.parquet")
    file.write_text('users = "users.parquet"\nby = "gender"\nmetrics = "ndcg"\nalpha = 0.2\nsd = 3')
    made = fairrec.plan(settings=file, alpha=0.1)
    assert (made.options["alpha"], made.options["sd"]) == (0.1, 3.0)
    assert made.options["users"] == tmp_path / "users.parquet"
    assert made.from_settings == ("users", "by", "metrics", "sd")
    # a pilot takes the place of the numbers
    pilot = pl.DataFrame({"ndcg@5": [0.0, 1.0]})
    made = fairrec.plan(settings=file, pilot=pilot)
    assert "sd" not in made.options
    assert made.facts.spread["ndcg@5"].sd == pytest.approx(math.sqrt(0.5), rel=1e-5)
    with pytest.raises(InputError, match="mean needs the standard deviation"):
        fairrec.plan(settings=file, mean=0.3)
