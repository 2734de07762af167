"""`fairrec audit`: what it takes, and what it makes of it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest

from tests.end_to_end.command_line import AUDIT, run_here, write_tables


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audited(*options: str) -> dict:
    """The result of a small audit."""
    ran = run_here(*AUDIT, "--permutations", "9", "--format", "json", *options)
    assert ran.code == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize(
    "options",
    [
        ("--by", "gender,age:20", "--metrics", "auc,mrr@3"),
        ("--by", "gender", "--by", "age:20", "--metrics", "auc", "--metrics", "mrr@3"),
        ("--by", " gender , age:20 ,", "--metrics", "AUC", "--metrics", "MRR@3"),
    ],
)
def test_names_are_repeated_or_joined_by_commas_alike(tables: Path, options: tuple[str, ...]):
    result = audited(*options)
    assert [*result["attributes"]] == ["gender", "age"]
    assert [*result["metrics"]] == ["auc", "mrr@3"]


@pytest.mark.parametrize("support", ["25%", "0.25", "12"])
def test_the_smallest_group_is_a_share_a_percentage_or_a_number(tables: Path, support: str):
    assert audited("--by", "gender", "--min-support", support)["coverage"]["min_users"] == 12


def test_unless_told_otherwise_the_smallest_group_has_ten_users(tables: Path):
    ran = run_here(*AUDIT[:4], "--by", "gender,member", "--permutations", "0", "--format", "json")
    coverage = json.loads(ran.stdout)["coverage"]
    assert (coverage["min_support"], coverage["min_users"]) == (None, 10)
    assert coverage["n_users_below"] > 0
    ran = run_here(*AUDIT[:4], "--by", "age")
    assert ran.code == 2
    assert "--min-support 1: groups of any size" in ran.stderr


def test_a_decimal_comma_in_a_budget_is_refused(tables: Path):
    ran = run_here(*AUDIT, "--by", "gender", "--search", "random", "--budget-users", "1,5%")
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr == (
        "InputError: invalid --budget-users: expected a number of users from 1, or a percentage "
        "above 0% and up to 100%, got 1,5%\n"
    )


def test_help_has_its_options_under_headings_in_plain_text():
    ran = run_here("audit", "--help-all")
    assert ran.code == 0
    assert ran.stdout.isascii()
    headings = [line for line in ran.stdout.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == [
        *("Arguments:", "Tables:", "Groups:", "Statistics:", "Plan and settings:", "Search:"),
        *("Model:", "Engine:", "Output:", "Gate:"),
    ]
    words = " ".join(ran.stdout.split())
    assert "no false finding" not in words


def test_a_run_or_a_table_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    two = (
        ("p.parquet", "--run", "run"),
        ("p.parquet", "--values", "v.parquet"),
        ("--values", "v.parquet", "--run", "run"),
    )
    for arguments in ((), *two):
        ran = run_here("audit", *arguments)
        assert ran.code == 2
        assert "Name one of recommendations with held-out interactions, scored candi" in ran.stderr
    ran = run_here("audit", "--run", "nowhere")
    assert ran.code == 2
    assert "no run there" in ran.stderr
    ran = run_here("audit", "p.parquet", "--by", "gender")
    assert ran.code == 2
    assert "--users is missing" in ran.stderr
    # attributes may stand beside the values
    ran = run_here("audit", "--values", "v.parquet")
    assert ran.code == 2
    assert "--by is missing" in ran.stderr


def test_circumstances_are_given_by_names_with_bins(tables: Path):
    result = audited("--by", "gender", "--metrics", "mrr@3", "--adjust-for", "age:q2,list_length")
    assert result["given"]["named"] == ["age:q2", "list_length"]
    assert result["given"]["circumstances"]["age"]["binning"] == "2 quantiles"
    ran = run_here(*AUDIT, "--by", "gender", "--adjust-for", "gender")
    assert ran.code == 2
    assert "'gender' is in --by and in --adjust-for" in ran.stderr


@pytest.mark.parametrize("option", [("--test", "t.parquet"), ("--missing-lists", "drop")])
def test_a_run_has_its_own_held_out_items(option):
    ran = run_here("audit", "--run", "nowhere", *option)
    assert ran.code == 2
    assert f"A run has its own held-out items. Leave out {option[0]}." in ran.stderr


def test_the_same_command_elsewhere_writes_the_same_result(
    tables: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
):
    paths = ("audit", str(tables / "predictions.parquet"), "--users", str(tables / "users.parquet"))
    small = ("--by", "gender", "--permutations", "9", "--search", "random", "--budget-users", "50%")
    for out in ("one", str(tables / "two")):
        ran = run_here(*paths, *small, "--out", out, "--quiet")
        assert ran.code == 0, ran.stderr
        monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    one, two = (tables / out / "result.json" for out in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    told = f"fairrec audit predictions.parquet --users users.parquet {' '.join(small)} --quiet"
    assert json.loads(one.read_text())["command"] == told
    run = json.loads((tables / "two" / "run.json").read_text())
    assert run["folder"] != str(tables) and str(tables) in run["command"]
    for name in ("result.json", "report.html"):
        assert str(tables) not in (tables / "two" / name).read_text("utf-8")


def test_small_groups_are_hidden_in_what_is_printed_and_written(tables: Path):
    shown = audited("--by", "gender,member", "--min-shown", "12", "--out", "out")
    assert shown["hidden"]["min_shown"] == 12 and shown["hidden"]["n_groups"] > 0
    written = json.loads((tables / "out" / "result.json").read_text())
    # an id is for files, and nothing is written here
    assert written.pop("id") and not shown.pop("id")
    assert written == shown
    assert audited("--by", "gender,member")["hidden"] is None
    ran = run_here(*AUDIT, "--by", "gender,member", "--min-shown", "12")
    assert "groups of fewer than 12 users are hidden in this result" in " ".join(ran.stdout.split())


def test_it_is_said_that_a_table_of_users_is_not_to_be_passed_on(tables: Path):
    out = ("--by", "gender", "--out", "out", "--no-report")
    warning = "per_user.parquet holds every user and is not to be passed on"
    assert warning in run_here(*AUDIT, *out, "--min-shown", "12").stderr
    assert (tables / "out" / "per_user.parquet").exists()
    assert warning not in run_here(*AUDIT, *out).stderr
    ran = run_here(*AUDIT, *out, "--min-shown", "12", "--aggregates-only")
    assert ran.stderr == "Written to out: result.json, run.json, groups.parquet\n"
    assert not (tables / "out" / "per_user.parquet").exists()
    assert json.loads((tables / "out" / "result.json").read_text())["is_aggregates_only"]


def test_a_limit_below_one_is_refused_before_any_work(tables: Path):
    ran = run_here("audit", "gone.parquet", *AUDIT[2:], "--by", "gender", "--min-shown", "0")
    assert ran.code == 2
    assert "invalid --min-shown: expected a whole number from 1" in ran.stderr


@pytest.mark.parametrize("log", ["users.parquet", "link.log", "fairrec.toml", "out/result.json"])
def test_a_log_is_appended_to_nothing_that_is_read_or_written(tables: Path, log: str):
    Path("fairrec.toml").write_text('users = "users.parquet"\nby = ["gender"]\n')
    Path("link.log").symlink_to("users.parquet")
    before = {path: path.read_bytes() for path in tables.iterdir()}
    for users in ((), ("--users", "users.parquet")):
        ran = run_here("audit", "predictions.parquet", *users, "--out", "out", "--log", log)
        assert ran.code == 2 and "--log would overwrite it" in ran.stderr
        assert {path: path.read_bytes() for path in tables.iterdir()} == before


def test_a_policy_is_not_replaced_by_the_result_that_is_held_against_it(tables: Path):
    policy = tables / "io" / "result.json"
    policy.parent.mkdir()
    policy.write_text('[[rule]]\nmetric = "ndcg@10"\nmax_worse = 0.5\n')
    before = policy.read_bytes()
    gate = ("--out", "io", "--force", "--gate", "--policy", "io/result.json")
    ran = run_here(*AUDIT, "--by", "gender", *gate)
    assert ran.code == 2 and "result.json there is read" in ran.stderr
    assert policy.read_bytes() == before


def test_the_outcome_of_a_gate_is_written_over_no_table_and_no_result(tables: Path):
    Path("fairrec.toml").write_text('[[rule]]\nmetric = "ndcg@10"\nmax_worse = 0.5\n')
    before = {path: path.read_bytes() for path in tables.iterdir()}
    for file in ("users.parquet", "predictions.parquet", "out/result.json", "out/report.html"):
        ran = run_here(*AUDIT, "--by", "gender", "--out", "out", "--gate", "--junit", file)
        assert ran.code == 2 and "--junit would overwrite it" in ran.stderr
        assert {path: path.read_bytes() for path in tables.iterdir()} == before


SECOND = 1 / math.log2(3)
"""Discount of the second place."""


@pytest.mark.parametrize(
    ("options", "ndcg"),
    [((), 1.0), (("--gain", "rating"), (1 + 3 * SECOND) / (3 + 1 * SECOND))],
)
def test_held_out_items_count_alike_unless_a_gain_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options, ndcg
):
    monkeypatch.chdir(tmp_path)
    users = [f"u{at}" for at in range(40)]
    rows = {"user_id": [user for user in users for _ in range(2)], "item_id": ["a", "b"] * 40}
    pl.DataFrame({"user_id": users, "plan": ["x", "y"] * 20}).write_csv("users.csv")
    pl.DataFrame({**rows, "score": [2.0, 1.0] * 40}).write_csv("recs.csv")
    # a third item of each user is in no list, and what is rated higher comes second
    held_out = {"user_id": [*rows["user_id"], *users], "item_id": [*rows["item_id"], *"c" * 40]}
    pl.DataFrame({**held_out, "rating": [1, 3] * 40 + [1] * 40}).write_csv("test.csv")
    ran = run_here(
        *("audit", "recs.csv", "--test", "test.csv", "--users", "users.csv", "--by", "plan"),
        *("--metrics", "ndcg@2", "--permutations", "0", "--format", "json", *options),
    )
    assert ran.code == 0, ran.stderr
    found = json.loads(ran.stdout)["metrics"]["ndcg@2"]["mean"]
    assert found == pytest.approx(ndcg)
