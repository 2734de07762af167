"""What is planned, and what can be expected of it."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

import fairrec
from fairrec.auditing.options import PlanOptions
from fairrec.auditing.plan_file import (
    Expected,
    Needed,
    PlanFacts,
    PlannedGroups,
    Spread,
)
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import FairRecError, InputError, UnknownNameError
from fairrec.metrics.parsing import parse_metric
from fairrec.planning.plan import estimate_spread
from fairrec.planning.words import plan_view
from tests.grouped_options import group_options, on_command_line

USERS = pl.DataFrame(
    {"user_id": range(1000), "gender": ["F", "M"] * 500, "age": [10, 20, 20, 20, 20] * 200}
)


def test_what_matters_is_planned_for_metrics_of_the_plan():
    made = fairrec.plan(users=USERS, by="gender", metrics="ndcg", tolerance="ndcg@5=0.03,5%")
    assert str(made.options["tolerance"]) == "ndcg@5=0.03,5%"
    with pytest.raises(InputError, match=r"tolerance: No audited metric 'auc'\. Known: ndcg@5\."):
        fairrec.plan(users=USERS, by="gender", metrics="ndcg", tolerance="auc=0.03")


def test_without_tests_nothing_is_found():
    made = fairrec.plan(
        users=USERS, by="gender", metrics="ndcg", statistics=fairrec.Statistics(permutations=0)
    )
    assert made.expectations.is_empty()
    assert made.expectations.columns[:4] == ["metric", "users", "n_groups", "harm"]
    assert made.needed.is_empty()


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
    made = fairrec.plan(
        users=USERS,
        by="gender",
        metrics="NDCG,mrr@3",
        statistics=fairrec.Statistics(alpha="0.1"),
        engine=fairrec.Engine(threads=1),
    )
    usual = vars(AuditOptions())
    assert made.options == {
        "missing_lists": "zero",
        "side": "users",
        "unit": "",
        "by": ("gender",),
        "adjust_for": (),
        "metrics": ("ndcg@5", "mrr@3"),
        **{name: usual[name] for name in made.options if name in usual},
        "alpha": 0.1,
    }
    assert {"depth", "seed", "permutations"} <= {*made.options}
    assert "threads" not in made.options


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"users": None}, "users is missing"),
        ({"by": None}, "by is missing"),
        ({"metrics": None}, "metrics is missing"),
        ({"by": "gendre"}, "No attribute 'gendre'. Did you mean 'gender'?"),
        ({"metrics": "ndgc"}, "No metric 'ndgc'. Did you mean 'ndcg'?"),
        ({"alhpa": 0.1}, "No option 'alhpa'. Did you mean 'alpha'?"),
        ({"min_support": 5000}, "No group has 5,000 users"),
        ({"pilot": pl.DataFrame({"auc": [1.0]})}, "the pilot table: No column 'ndcg@5'."),
        ({"pilot": pl.DataFrame({"ndcg@5": [1.0, 1.0]})}, "all values of 'ndcg@5' are equal"),
        ({"adjust_for": "gender"}, "'gender' is in by and in adjust_for"),
        ({"adjust_for": "nope"}, "adjust_for: No covariate 'nope'."),
        ({"sd": 1}, "have a mean of 0.5 and a standard deviation of 1."),
        ({"sd": 1e200}, "invalid sd: expected a number above 0 up to 1e+50, got 1e+200"),
        ({"better": {"ndgc": "lower"}}, "better: No metric 'ndgc'. Did you mean 'ndcg'?"),
    ],
)
def test_what_cannot_be_planned_is_told(options, says):
    with pytest.raises(FairRecError) as caught:
        fairrec.plan(
            **group_options(**{"users": USERS, "by": "gender", "metrics": "ndcg", **options})
        )
    assert says in str(caught.value)


def test_columns_of_values_are_planned_with_their_better_end():
    pilot = pl.DataFrame({"churn": [0.0, 1.0, 1.0], "watch": [3.0, 4.0, 9.0]})
    made = fairrec.plan(
        users=USERS,
        by="gender",
        metrics="churn,watch",
        tables=fairrec.Tables(better="churn=lower"),
        pilot=pilot,
    )
    assert made.options["better"] == {"churn": False}
    assert made.options["metrics"] == ("churn", "watch")
    assert {*made.expectations["metric"]} == {"churn", "watch"}
    with pytest.raises(UnknownNameError):
        fairrec.plan(users=USERS, by="gender", metrics="churn,watch")


def test_settings_hold_where_nothing_is_given(tmp_path):
    file = tmp_path / "fairrec.toml"
    USERS.write_parquet(tmp_path / "users.parquet")
    file.write_text(
        'users = "users.parquet"\nby = "gender"\nmetrics = "ndcg"\nalpha = 0.2\nsd = 0.3'
    )
    made = fairrec.plan(settings=file, statistics=fairrec.Statistics(alpha=0.1))
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


HUNDRED = pl.DataFrame({"user_id": range(100), "gender": ["F", "M"] * 50})


@pytest.mark.parametrize(
    ("mean", "sd"), [(1.2, 0.1), (-0.1, 0.1), (0.1, 0.35), (None, 0.51), (0.0, 0.1)]
)
def test_what_no_values_between_the_bounds_have_is_refused(mean, sd):
    with pytest.raises(InputError, match=r"^No values of ndcg@5, from 0 to 1, have a mean of"):
        estimate_spread(PlanOptions(mean=mean, sd=sd), None, [parse_metric("ndcg")])
    estimate_spread(PlanOptions(mean=0.5, sd=0.5), None, [parse_metric("ndcg")])


def test_a_pilot_gives_mean_and_standard_deviation_of_each_metric(tmp_path):
    pilot = pl.DataFrame(
        {"user_id": range(4), "ndcg@5": [0.0, 1.0, None, 0.5], "auc": [1, 0, 1, 0]}
    )
    made = fairrec.plan(users=HUNDRED, by="gender", metrics="ndcg,auc", pilot=pilot)
    assert made.facts.spread["ndcg@5"] == Spread(mean=0.5, sd=0.5)
    assert made.facts.spread["auc"].sd == pytest.approx(math.sqrt(1 / 3), rel=1e-5)
    pilot.write_parquet(tmp_path / "pilot.parquet")
    of_file = fairrec.plan(
        users=HUNDRED, by="gender", metrics="ndcg,auc", pilot=tmp_path / "pilot.parquet"
    )
    assert of_file.facts.spread == made.facts.spread
    assert len(of_file.facts.tables["pilot"].sha256) == 64


FACTS = PlanFacts(
    fairrec_version="1",
    n_users=4000,
    users_sha256="",
    min_users=10,
    tables={},
    attributes={"gender": 2, "a\nb": 2},
    groups=(
        PlannedGroups(depth=1, n_groups=5, n_groups_below=1, smallest=12, median=700, largest=2500),
        PlannedGroups(depth=2, n_groups=0, n_groups_below=9),
    ),
    expected=(
        Expected(metric="n|dcg", users=12, n_groups=5),
        Expected(
            metric="n|dcg",
            users=1000,
            n_groups=2,
            harm=0.123456,
            certified=0.1,
            certified_median=0.08,
        ),
    ),
    needed=(
        Needed(
            metric="n|dcg",
            group={"gender": "F"},
            users=900,
            tolerance=0.05,
            times=2.5,
            users_needed=10_000,
        ),
        Needed(
            metric="n|dcg",
            group={"gender": "M"},
            users=3100,
            tolerance=0.05,
            times=1.0,
            users_needed=4000,
        ),
        Needed(metric="n|dcg", group={"gender": "F", "a": "1\n"}, users=12, tolerance=0.05),
    ),
)


def test_a_plan_is_a_headline_and_tables():
    view = plan_view(FACTS)
    assert view.answer.headline == r"4,000 users, 5 groups of at least 10 users by gender, a\nb"
    groups, expected, needed = view.tables
    assert groups.rows == (("1", "5", "1", "12", "700", "2,500"), ("2", "0", "9", "-", "-", "-"))
    assert expected.rows == (
        ("n|dcg", "12", "5", "-", "-", "-"),
        ("n|dcg", "1,000", "2", "0.123", "0.100", "0.0800"),
    )
    assert needed.rows == (
        ("n|dcg", "gender=F", "900", "0.0500", "2.50", "10,000"),
        ("n|dcg", "gender=M", "3,100", "0.0500", "1.00", "4,000"),
        ("n|dcg", r"gender=F, a=1\n", "12", "0.0500", "over 1,000", "-"),
    )
    assert expected.title.endswith("80% probability, in standard deviations among users")
    for table in view.tables:
        assert all(len(row) == len(table.columns) == len(table.numeric) for row in table.rows)


def test_where_the_spread_is_known_harm_is_in_units_of_the_metric():
    known = FACTS.model_copy(update={"spread": {"n|dcg": Spread(sd=0.3)}, "needed": ()})
    view = plan_view(known)
    assert view.answer.about == ("Harm found and ruled out with 80% probability:",)
    assert [len(table.rows) for table in view.tables] == [2, 2]


def test_a_pilot_and_numbers_in_its_stead_exclude_each_other():
    assert PlanOptions(pilot="a.csv").pilot == Path("a.csv")
    assert PlanOptions(mean="0.3", sd=1) == PlanOptions(mean=0.3, sd=1.0)
    with pytest.raises(InputError, match=r"^pilot has mean and standard deviation of its own"):
        PlanOptions(pilot="a.csv", sd=1)
    said = r"^--pilot has .* Leave out --mean, or the pilot"
    with pytest.raises(InputError, match=said), on_command_line():
        PlanOptions(pilot="a.csv", mean=1)
    with (
        pytest.raises(InputError, match=r"^--mean needs .* too: --sd NUMBER$"),
        on_command_line(),
    ):
        PlanOptions(mean=1)
    for sd in (0, -1, "much", 1e51):
        with pytest.raises(InputError, match=r"^invalid sd: expected a number above 0"):
            PlanOptions(sd=sd)
