"""Every way in which an audit can differ from its plan, each in a line."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import fairrec
from fairrec.auditing import plan_file as module
from fairrec.auditing.call_repr import read_plan
from fairrec.core.files import file_sum
from fairrec.core.settings import checksum_of, to_toml
from fairrec.metrics.registry import METRICS
from fairrec.result.audit_result import AuditResult
from tests.auditing.plan_builders import audit_by, make_plan, write_world

ALL = "all held-out items, or labels above 0"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return write_world(tmp_path)


def deviations_of(result: AuditResult) -> tuple[str, ...]:
    assert result.summary.plan is not None
    return result.summary.plan.deviations


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({"alpha": "0.1"}, ("alpha 0.1 (planned 0.05)",)),
        ({"seed": 7, "top": 2}, ("seed 7 (planned 0)", "top 2 (planned 1)")),
        ({"depth": "full"}, ("depth full (planned 3)",)),
        ({"min_support": "20%"}, ("min_support 0.2 (planned 0.1% of users, at least 10)",)),
        ({"metrics": "ndcg@5,auc"}, ("metrics ndcg@5,auc (planned ndcg@5)",)),
        ({"metrics": "ndcg@10"}, ("metrics ndcg@10 (planned ndcg@5)",)),
        ({"by": "gender"}, ("by gender (planned gender,member)",)),
        ({"relevant": "label>=1"}, (f"relevant label>=1 (planned {ALL})",)),
        ({"columns": {"label": "label"}}, ("columns label=label (planned none)",)),
        ({"tolerance": "5%"}, ("matters 5% (planned none, so nothing is ruled out by it)",)),
        ({"given": "n_relevant"}, ("given n_relevant (planned none)",)),
        # what changes nothing
        ({"threads": 1}, ()),
        ({"by": "member,gender"}, ()),
        ({"metrics": ["NDCG"]}, ()),
        ({"alpha": "0.05", "permutations": 19.0}, ()),
    ],
)  # fmt: skip
def test_an_option_that_differs_is_a_line(world, options, lines):
    file = make_plan(world).save(world / "plan.toml")
    assert deviations_of(audit_by(file, world, **options)) == lines


def test_metrics_in_another_case_matter_as_planned(world):
    file = make_plan(world, tolerance="ndcg@5=0.03").save(world / "plan.toml")
    assert deviations_of(audit_by(file, world, tolerance="NDCG@5=0.03")) == ()
    (line,) = deviations_of(audit_by(file, world, tolerance="NDCG@5=0.04"))
    assert line == "matters ndcg@5=0.04 (planned ndcg@5=0.03)"


def test_another_users_table_is_told_with_the_values_that_came_and_went(world):
    file = make_plan(world).save(world / "plan.toml")
    users = pl.read_parquet(world / "users.parquet")
    other = users.with_columns(gender=pl.col("gender").replace({"M": "X"}))
    other.write_parquet(world / "others.parquet")
    table, came, went = deviations_of(audit_by(file, world, users=world / "others.parquet"))
    known = read_plan(file).facts.tables["users"].sha256[:12]
    assert table.startswith("users table others.parquet, checksum ")
    assert table.endswith(f"(planned users.parquet, checksum {known})")
    assert came == "attribute gender has values that were not planned: X"
    assert went == "attribute gender lacks planned values: M"


def test_the_same_table_elsewhere_is_the_same_table(world):
    file = make_plan(world).save(world / "plan.toml")
    (world / "copy.parquet").write_bytes((world / "users.parquet").read_bytes())
    assert deviations_of(audit_by(file, world, users=world / "copy.parquet")) == ()


def test_users_who_are_not_audited_change_no_value_of_the_plan(world):
    file = make_plan(world, min_support=1).save(world / "plan.toml")
    women = pl.read_parquet(world / "users.parquet").filter(gender="F")["user_id"]
    predictions = pl.read_parquet(world / "predictions.parquet")
    some = predictions.filter(pl.col("user_id").is_in(women.implode()))
    # the users table is that of the plan, and who is audited of it is counted
    assert deviations_of(fairrec.audit(some, plan=file)) == (
        f"{some['user_id'].n_unique():,} users audited (planned 80)",
    )


def test_other_users_in_memory_are_told_by_their_number_and_by_who_they_are(world):
    users = pl.read_parquet(world / "users.parquet")
    values = users.select("user_id", churn=pl.int_range(pl.len()) % 3)
    file = make_plan(
        world, users=users, by="gender", metrics="churn", better={"churn": "lower"}
    ).save(world / "plan.toml")

    def audited(who: pl.DataFrame, what: pl.DataFrame = values) -> tuple[str, ...]:
        return deviations_of(fairrec.audit(values=what, users=who, plan=file))

    assert audited(users) == audited(users.reverse()) == audited(users.to_pandas()) == ()
    assert audited(users, values.head(60)) == ("60 users audited (planned 80)",)
    # as many of each value as before
    renamed = [frame.with_columns(pl.col("user_id") + "x") for frame in (users, values)]
    swapped = users.with_columns(gender=pl.col("gender").reverse())
    for line in (*audited(*renamed), *audited(swapped)):
        assert line.startswith("users in memory with other ids or attributes, checksum ")
    assert len(audited(*renamed)) == len(audited(swapped)) == 1


def test_a_table_in_memory_cannot_be_compared_but_by_its_values(world):
    users = pl.read_parquet(world / "users.parquet")
    of_file = make_plan(world).save(world / "plan.toml")
    (line,) = deviations_of(audit_by(of_file, world, users=users))
    assert line.startswith("users table in memory (planned users.parquet, checksum ")
    of_frame = make_plan(world, users=users).save(world / "frame.toml")
    assert deviations_of(audit_by(of_frame, world, users=users)) == ()
    fewer = users.with_columns(gender=pl.lit("F"))
    lacking, others = deviations_of(audit_by(of_frame, world, users=fewer))
    assert lacking == "attribute gender lacks planned values: M, (missing)"
    assert others.startswith("users in memory with other ids or attributes, checksum ")


def test_of_many_values_the_number_is_compared(world):
    users = pl.read_parquet(world / "users.parquet").with_columns(town=pl.int_range(pl.len()) % 40)
    plan = make_plan(world, users=users, by="town", min_support=1).save(world / "plan.toml")
    others = users.with_columns(town=pl.col("town") % 30)
    number, who = deviations_of(audit_by(plan, world, users=others))
    assert number == "attribute town has 30 values (planned 40)"
    assert who.startswith("users in memory with other")
    assert deviations_of(audit_by(plan, world, users=users)) == ()


def test_a_planned_table_that_is_left_out_is_a_line(world):
    plan = make_plan(world, items=world / "items.parquet").save(world / "plan.toml")
    assert deviations_of(audit_by(plan, world)) == ()
    content = {**read_plan(plan).settings.content}
    del content["items"]
    content["plan"] = {**content["plan"]}
    content["plan"]["checksum"] = checksum_of(content)
    plan.write_text(to_toml(content))
    (line,) = deviations_of(audit_by(plan, world))
    assert line.startswith("no items table (planned items.parquet, checksum ")


def test_a_pilot_is_no_table_of_the_audit(world):
    pilot = pl.DataFrame({"ndcg@5": [0.0, 1.0, 0.5]})
    pilot.write_csv(world / "pilot.csv")
    plan = make_plan(world, pilot=world / "pilot.csv").save(world / "plan.toml")
    assert deviations_of(audit_by(plan, world)) == ()


def test_a_search_that_leaves_users_unscored_is_a_line(world):
    plan = make_plan(world).save(world / "plan.toml")
    how = fairrec.SearchOptions("random", budget_users=40)
    (line,) = deviations_of(audit_by(plan, world, search=how))
    assert line == "the searcher random scored 40 of 80 users (planned all)"
    assert deviations_of(audit_by(plan, world, search="exact")) == ()


def test_another_version_is_a_line(world, monkeypatch):
    plan = make_plan(world).save(world / "plan.toml")
    monkeypatch.setattr(module, "__version__", "9.9")
    planned = read_plan(plan).facts.fairrec_version
    assert deviations_of(audit_by(plan, world)) == (f"FairRec 9.9 (planned with {planned})",)


def test_an_own_metric_that_was_written_anew_is_a_line(world, monkeypatch):
    def registered(compute):
        monkeypatch.setitem(
            METRICS._entries, "mine", replace(METRICS["auc"], name="mine", compute=compute)
        )

    def of_file(name: str, value: int):
        (world / name).write_text(f"def mine(lists):\n    return lists.labels(1)[:, 0] * {value}\n")
        return runpy.run_path(str(world / name))["mine"]

    registered(of_file("ma.py", 0))
    plan = make_plan(world, metrics="mine").save(world / "plan.toml")
    assert deviations_of(audit_by(plan, world)) == ()
    # the same by another name is the same
    registered(of_file("copy.py", 0))
    assert deviations_of(audit_by(plan, world)) == ()
    registered(of_file("mb.py", 1))
    (line,) = deviations_of(audit_by(plan, world))
    then, now = (file_sum(world / name)[:12] for name in ("ma.py", "mb.py"))
    assert line == f"own metrics of mb.py, checksum {now} (planned ma.py, checksum {then})"
    (world / "mb.py").unlink()
    assert deviations_of(audit_by(plan, world)) == (
        f"own metrics of mine (planned ma.py, checksum {then})",
        "the code of mine is not known, so it is not compared with the planned",
    )
