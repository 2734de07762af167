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
from tests.workflows.plan_builders import make_plan, write_world

USERS = pl.DataFrame(
    {"user_id": range(1000), "gender": ["F", "M"] * 500, "age": [10, 20, 20, 20, 20] * 200}
)


def grouping(by: str, **options):
    users = read_users(Table(USERS, "users"), by.split(","))
    everyone = users.attributes(np.arange(len(USERS)))
    return grouping_of(everyone, AuditOptions.of(**options))


def test_a_group_of_half_is_found_at_the_difference_that_can_be_reckoned_by_hand():
    made = expectations(
        [parse_metric("ndcg@10")],
        grouping("gender"),
        AuditOptions(),
        {"ndcg@10": Spread(sd=0.35, mean=0.5)},
    )
    # two groups, one metric: 0.05 is divided by two tests and two sides
    critical = NormalDist().inv_cdf(1 - 0.05 / 4)
    error = 0.35 * math.sqrt(1 / 500 + 1 / 500)
    difference = (critical + NormalDist().inv_cdf(0.8)) * error
    assert made.rows() == [("ndcg@10", 500, 2, pytest.approx(difference, rel=1e-3))]


def test_without_a_spread_differences_are_in_standard_deviations():
    metrics, options = [parse_metric("ndcg")], AuditOptions()
    unknown = expectations(metrics, grouping("gender"), options, {})["difference"]
    known = expectations(metrics, grouping("gender"), options, {"ndcg@5": Spread(sd=0.5)})
    assert (known["difference"] * 2).to_list() == pytest.approx(unknown.to_list(), rel=1e-3)


def test_larger_groups_and_fewer_tests_need_a_smaller_difference():
    one = [parse_metric("ndcg")]
    few = expectations(one, grouping("age"), AuditOptions(), {})
    assert few["users"].to_list() == [200, 500]
    assert few["n_groups"].to_list() == [2, 1]
    assert few["difference"].is_sorted(descending=True)
    for more in (
        expectations([*one, parse_metric("auc")], grouping("age"), AuditOptions(), {}),
        expectations(one, grouping("age,gender"), AuditOptions(), {}).filter(pl.col("users") > 150),
        expectations(one, grouping("age"), AuditOptions(alpha=0.01), {}),
    ):
        of_ndcg = more.filter(metric="ndcg@5")
        assert of_ndcg["users"].to_list()[-2:] == [200, 500]
        assert (of_ndcg["difference"][-2:] > few["difference"]).all()


@pytest.mark.parametrize(
    ("metric", "mean", "is_found"),
    [("ndcg", 0.5, True), ("ndcg", 0.01, False), ("ndcg", 0.99, True)],
)
def test_nobody_is_worse_by_more_than_the_mean_allows(metric, mean, is_found):
    spread = {"ndcg@5": Spread(sd=0.3, mean=mean)}
    made = expectations([parse_metric(metric)], grouping("gender"), AuditOptions(), spread)
    assert (made["difference"].item() is not None) == is_found


def test_the_least_that_can_be_found_is_the_last_that_is_possible():
    """Half of the users at 0 leave twice the mean to the others."""
    reach = expectations([parse_metric("ndcg")], grouping("gender"), AuditOptions(), {}).row(0)[-1]
    for mean, is_found in ((reach / 2 * 1.001, True), (reach / 2 * 0.999, False)):
        spread = {"ndcg@5": Spread(sd=1.0, mean=mean)}
        made = expectations([parse_metric("ndcg")], grouping("gender"), AuditOptions(), spread)
        assert (made["difference"].item() is not None) == is_found


def test_without_tests_nothing_is_found():
    made = fairrec.plan(users=USERS, by="gender", metrics="ndcg", permutations=0)
    assert made.expectations.is_empty()
    assert made.expectations.columns == ["metric", "users", "n_groups", "difference"]
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
        "metrics": ("ndcg@5", "mrr@3"),
        **{name: usual[name] for name in made.options if name in usual},
        "alpha": 0.1,
    }
    assert {"depth", "seed", "permutations", "correction"} <= {*made.options}
    assert "threads" not in made.options


def test_a_pilot_gives_mean_and_standard_deviation_of_each_metric(tmp_path):
    pilot = pl.DataFrame(
        {"user_id": range(4), "ndcg@5": [0.0, 1.0, None, 0.5], "auc": [1, 0, 1, 0]}
    )
    made = fairrec.plan(users=USERS, by="gender", metrics="ndcg,auc", pilot=pilot)
    assert made.facts.spread["ndcg@5"] == Spread(mean=0.5, sd=0.5)
    assert made.facts.spread["auc"].sd == pytest.approx(math.sqrt(1 / 3), rel=1e-5)
    pilot.write_parquet(tmp_path / "pilot.parquet")
    of_file = fairrec.plan(
        users=USERS, by="gender", metrics="ndcg,auc", pilot=tmp_path / "pilot.parquet"
    )
    assert of_file.facts.spread == made.facts.spread
    assert len(of_file.facts.tables["pilot"].sha256) == 64


def test_per_user_values_of_an_audit_are_a_pilot(tmp_path):
    write_world(tmp_path)
    result = fairrec.audit(
        tmp_path / "predictions.parquet", users=tmp_path / "users.parquet", by="gender",
        metrics="ndcg", permutations=0,
    )  # fmt: skip
    result.save(tmp_path / "first", report=False)
    made = make_plan(tmp_path, pilot=tmp_path / "first" / "per_user.parquet")
    assert made.facts.spread["ndcg@5"].mean == pytest.approx(
        result.metrics["ndcg@5"].mean, rel=1e-5
    )
    assert made.facts.spread["ndcg@5"].sd == pytest.approx(result.metrics["ndcg@5"].sd, rel=1e-5)


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
