"""What is planned, and what can be expected of it."""

from __future__ import annotations

import math

import polars as pl
import pytest

import fairrec
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import FairRecError, InputError, UnknownNameError
from fairrec.result.plan_schema import PlannedGroups

USERS = pl.DataFrame(
    {"user_id": range(1000), "gender": ["F", "M"] * 500, "age": [10, 20, 20, 20, 20] * 200}
)


def test_what_matters_is_planned_for_metrics_of_the_plan():
    made = fairrec.plan(users=USERS, by="gender", metrics="ndcg", tolerance="ndcg@5=0.03,5%")
    assert str(made.options["tolerance"]) == "ndcg@5=0.03,5%"
    with pytest.raises(InputError, match=r"tolerance: No audited metric 'auc'\. Known: ndcg@5\."):
        fairrec.plan(users=USERS, by="gender", metrics="ndcg", tolerance="auc=0.03")


def test_without_tests_nothing_is_found():
    made = fairrec.plan(users=USERS, by="gender", metrics="ndcg", permutations=0)
    assert made.expectations.is_empty()
    assert made.expectations.columns[:4] == ["metric", "users", "n_groups", "harm"]
    assert made.needed.is_empty()
    assert made.costs.is_empty()
    pooled = fairrec.plan(users=USERS, by="gender", metrics="pooled_auc")
    assert pooled.expectations.is_empty()


def test_what_is_expected_is_read_from_the_result():
    made = fairrec.plan(
        users=USERS, by="age,gender", metrics="ndcg", mean=0.3, sd=0.35, tolerance="20%"
    )
    assert made.expectations["certified"].is_sorted(descending=True)
    assert made.needed["group"].to_list() == [
        "age=20", "gender=F", "gender=M", "age=10", "age=10, gender=F",
    ]  # fmt: skip
    assert made.needed["tolerance"].unique().to_list() == [0.06]
    assert made.costs["attribute"].to_list() == ["age", "gender", None]
    assert made.costs["depth"].to_list() == [None, None, 1]


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
        "side": "users",
        "unit": "",
        "by": ("gender",),
        "given": (),
        "metrics": ("ndcg@5", "mrr@3"),
        **{name: usual[name] for name in made.options if name in usual},
        "alpha": 0.1,
    }
    assert {"depth", "seed", "permutations"} <= {*made.options}
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
        ({"alpha": 2}, "invalid alpha: expected a number from 0.0001 to 0.5, got 2"),
        ({"min_support": 5000}, "No group has 5,000 users"),
        ({"users": "nowhere.csv"}, "nowhere.csv: does not exist"),
        ({"columns": {"no.such": "x"}}, "No table 'no'."),
        ({"pilot": pl.DataFrame({"auc": [1.0]})}, "the pilot table: No column 'ndcg@5'."),
        ({"pilot": pl.DataFrame({"ndcg@5": [1.0, 1.0]})}, "is the same for everyone"),
        ({"pilot": pl.DataFrame({"ndcg@5": [1.0]})}, "is the same for everyone"),
        ({"pilot": pl.DataFrame({"ndcg@5": ["a", "b"]})}, "ndcg@5"),
        ({"metrics": ""}, "No metric is named. Example: metrics="),
        ({"by": "user_id:1"}, "Attribute 'user_id' is the user id itself"),
        ({"given": "gender"}, "'gender' is in by and in given"),
        ({"given": "nope"}, "given: No circumstance 'nope'."),
        ({"sd": 1}, "sd=1.0: ndcg@5 runs from 0 to 1, so it has at most 0.5."),
        ({"sd": 1e200}, "invalid sd: expected a number above 0, up to 1e+50, got 1e+200"),
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


def test_the_better_end_of_a_metric_does_not_make_the_others_columns_of_values():
    made = fairrec.plan(
        users=USERS,
        by="gender",
        metrics=["ndcg", "share@5[pay=high]"],
        better="share@5[pay=high]=higher",
    )
    assert made.options["metrics"] == ("ndcg@5", "share@5[pay=high]")


def test_settings_hold_where_nothing_is_given(tmp_path):
    file = tmp_path / "fairrec.toml"
    USERS.write_parquet(tmp_path / "users.parquet")
    file.write_text(
        'users = "users.parquet"\nby = "gender"\nmetrics = "ndcg"\nalpha = 0.2\nsd = 0.3'
    )
    made = fairrec.plan(settings=file, alpha=0.1)
    assert (made.options["alpha"], made.options["sd"]) == (0.1, 0.3)
    assert made.options["users"] == tmp_path / "users.parquet"
    assert made.from_settings == ("users", "by", "metrics", "sd")
    # a pilot takes the place of the numbers
    pilot = pl.DataFrame({"ndcg@5": [0.0, 1.0]})
    made = fairrec.plan(settings=file, pilot=pilot)
    assert "sd" not in made.options
    assert made.facts.spread["ndcg@5"].sd == pytest.approx(math.sqrt(0.5), rel=1e-5)
    with pytest.raises(InputError, match="mean needs the standard deviation"):
        fairrec.plan(settings=file, mean=0.3)
