"""`fairrec plan`, and an audit by what it wrote, with the real command."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.builders import make_tables
from tests.end_to_end.command_line import run_here, write_tables

PLAN = ("plan", "--users", "users.parquet", "--by", "gender,member", "--metrics", "ndcg@5")
AUDIT = ("audit", "predictions.parquet", "--plan", "plan.toml")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tables(tmp_path, make_tables(80))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_made_run_and_kept_to(here: Path):
    options = ("--permutations", "39", "--mean", "0.5", "--sd", "0.3", "--out", "plan.toml")
    made = run_here(*PLAN, *options)
    assert made.code == 0, made.stderr
    assert made.stdout.startswith("80 users, 9 groups of at least 10 users by gender, member\n")
    assert "Harm found and ruled out with 80% probability:\n" in made.stdout
    checksum = made.stderr.removeprefix("Written to plan.toml, checksum ").strip()
    assert len(checksum) == 12

    ran = run_here(*AUDIT, "--out", "audit")
    assert ran.code == 0, ran.stderr
    lines = ran.stdout.splitlines()
    planned = lines.index(f"plan: As planned (plan.toml, checksum {checksum}).")
    assert planned < next(at for at, line in enumerate(lines) if line.startswith("ndcg@5  "))
    result = json.loads((here / "audit" / "result.json").read_text())
    assert result["plan"]["deviations"] == []
    assert result["plan"]["checksum"].startswith(checksum)
    assert result["permutations"] == 39
    assert "As planned (plan.toml" in (here / "audit" / "report.html").read_text()
    # a page made from the saved result says the same
    assert run_here("report", "audit").code == 0
    assert "As planned (plan.toml" in (here / "audit" / "report.html").read_text()


def test_the_next_step_of_an_audit_is_a_command_that_runs(here: Path):
    """Where a tolerance is not ruled out: a plan by the options of the audit, its users a pilot."""
    audit = ("audit", "predictions.parquet", "--users", "users.parquet", "--by", "member")
    ran = run_here(
        *audit,
        "--metrics",
        "ndcg@5",
        "--alpha",
        "0.01",
        "--out",
        "an audit",
        "--max-undefined",
        "20%",
        "--tolerance",
        "1%",
    )
    (step,) = [line for line in ran.stdout.splitlines() if "fairrec plan" in line]
    command = shlex.split(step.rpartition(": ")[2].partition(" (")[0])
    assert command == ["fairrec", "plan", "an audit"]
    planned = run_here(*command[1:], "--out", "plan.toml")
    assert planned.code == 0, planned.stderr
    settings = tomllib.loads((here / "plan.toml").read_text())
    assert settings["by"] == ["member"] and settings["alpha"] == 0.01
    assert settings["metrics"] == ["ndcg@5"] and settings["users"].endswith("users.parquet")
    result = json.loads((here / "an audit" / "result.json").read_text())
    (spread,) = settings["plan"]["spread"].values()
    assert spread["mean"] == pytest.approx(result["metrics"]["ndcg@5"]["mean"], abs=1e-5)
    # what is named beside it goes before what the audit says
    other = run_here(*command[1:], "--by", "gender", "--mean", "0.5", "--sd", "0.3")
    assert other.code == 0 and "by gender" in other.stdout


def test_a_plan_made_from_an_audit_is_of_its_users(here: Path):
    lists = pl.read_parquet("predictions.parquet")
    others = lists.filter(pl.col("user_id") != lists["user_id"][0])
    others.write_parquet("predictions.parquet")
    named = ("--users", "users.parquet", "--by", "member", "--metrics", "ndcg@5", "--quiet")
    audit = ("audit", "predictions.parquet", *named)
    assert run_here(*audit, "--out", "audit").code == 0
    planned = run_here("plan", "audit", "--out", "plan.toml", "--quiet")
    assert planned.stdout.startswith("79 users, ")
    again = run_here("audit", "predictions.parquet", "--plan", "plan.toml")
    assert "As planned (plan.toml, checksum " in again.stdout
    assert "Deviates from the plan" not in again.stdout
    other = run_here("plan", "audit", "--users", "users.parquet", "--quiet")
    assert other.stdout.startswith("80 users, ")


def test_users_are_listed_for_groups_whose_verdict_is_open(here: Path):
    rng = np.random.default_rng(0)
    age = np.repeat(["young", "mid", "old"], [1000, 900, 100])
    clicks = rng.normal(5, 1, 2000) - (age == "mid") - 0.5 * (age == "old")
    pl.DataFrame({"user_id": range(2000), "age": age, "clicks": clicks}).write_parquet("v.parquet")
    audit = ("audit", "--values", "v.parquet", "--by", "age", "--better", "clicks=higher")
    assert run_here(*audit, "--out", "audit", "--quiet").code == 0
    ran = run_here("plan", "audit", "--tolerance", "0.2", "--quiet")
    assert ran.code == 0, ran.stderr
    caveat = ran.stdout.index("If a group has no true difference")
    assert caveat < ran.stdout.index("age=old")
    assert "Not listed: 2 groups worse or within tolerance in the audit" in ran.stdout
    assert "age=mid" not in ran.stdout and "age=young" not in ran.stdout
    assert "smallest are listed" not in ran.stdout
    other = run_here("plan", "audit", "--tolerance", "0.2", "--users", "v.parquet", "--quiet")
    assert "age=mid" in other.stdout


def test_deviations_stand_before_the_verdicts(here: Path):
    assert run_here(*PLAN, "--permutations", "19", "--out", "plan.toml", "--quiet").stderr == ""
    ran = run_here(*AUDIT, "--alpha", "0.1", "--min-support", "12")
    assert ran.code == 0, ran.stderr
    lines = ran.stdout.splitlines()
    (at,) = (
        i for i, line in enumerate(lines) if line.startswith("plan: Planned (plan.toml, checksum ")
    )
    assert lines[at].endswith("with 2 deviations.")
    assert at < next(i for i, line in enumerate(lines) if line.startswith("ndcg@5  "))
    assert lines[at + 1 : at + 4] == [
        "plan: Deviates from the plan: alpha 0.1 (planned 0.05).",
        "plan: Deviates from the plan: min_support 12 (planned 0.1% of users, at least",
        "10).",
    ]
    ran = run_here(*AUDIT, "--alpha", "0.1", "--format", "markdown")
    assert ran.stdout.index("Deviates from the plan") < ran.stdout.index("| metric | verdict")


def test_a_changed_plan_is_refused_and_can_be_frozen_again(here: Path):
    run_here(*PLAN, "--permutations", "19", "--out", "plan.toml")
    file = here / "plan.toml"
    file.write_text(file.read_text().replace("alpha = 0.05", "alpha = 0.01"))
    ran = run_here(*AUDIT)
    assert (ran.code, ran.stdout) == (2, "")
    assert "plan.toml: was changed after it was frozen" in ran.stderr
    assert "freeze it again: fairrec plan --settings plan.toml --out plan.toml\n" in ran.stderr
    again = run_here("plan", "--settings", "plan.toml", "--out", "plan.toml")
    assert again.code == 0, again.stderr
    assert again.stderr.startswith("settings from plan.toml: ")
    assert "As planned" in run_here(*AUDIT).stdout


def test_settings_that_are_found_are_frozen_and_the_command_line_beats_them(here: Path):
    (here / "fairrec.toml").write_text(
        'users = "users.parquet"\nby = "gender"\nmetrics = "auc"\nalpha = 0.2\npermutations = 19'
    )
    ran = run_here("plan", "--alpha", "0.1", "--out", "plan.toml")
    assert ran.code == 0, ran.stderr
    assert ran.stderr.startswith(
        "settings from fairrec.toml: users, by, metrics, permutations\nWritten to plan.toml, "
    )
    result = json.loads(run_here(*AUDIT, "--format", "json").stdout)
    assert (result["alpha"], result["plan"]["deviations"]) == (0.1, [])
    assert result["settings"]["options"] == []
    # settings of another day come after the plan
    (here / "fairrec.toml").write_text("alpha = 0.3\nseed = 5")
    result = json.loads(run_here(*AUDIT, "--format", "json").stdout)
    assert (result["alpha"], result["seed"]) == (0.1, 0)


def test_a_plan_of_values_runs_on_them(here: Path):
    users = make_tables(80).users
    users.select("user_id", churn=users["age"].fill_null(0) % 2).write_csv("outcomes.csv")
    ran = run_here(
        "plan", "--users", "users.parquet", "--by", "gender", "--metrics", "churn",
        "--better", "churn=lower", "--permutations", "19", "--out", "plan.toml",
    )  # fmt: skip
    assert ran.code == 0, ran.stderr
    ran = run_here("audit", "--values", "outcomes.csv", "--plan", "plan.toml", "--format", "json")
    assert ran.code == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert result["metrics"]["churn"]["higher_is_better"] is False
    assert result["plan"]["deviations"] == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("plan",), "--users is missing: a plan names users, attributes and metrics."),
        ((*PLAN, "--mean", "0.3"), "--mean needs the standard deviation among users too"),
        ((*PLAN, "--out", "users.parquet"), "a plan is a TOML file. Name it NAME.toml."),
        ((*PLAN, "--out", "fairrec.toml"), "fairrec.toml: is there already and is no plan"),
        ((*AUDIT[:3], "nowhere.toml"), "nowhere.toml: cannot be read (No such file"),
        (
            (*AUDIT[:3], "fairrec.toml"),
            "no plan. Freeze it: fairrec plan --settings fairrec.toml --out PLAN.toml",
        ),
        ((*AUDIT[:3], "."), ".: cannot be read (Is a directory)"),
        (
            (*AUDIT[:3], "users.parquet"),
            "users.parquet: is no TOML ('utf-8' codec can't decode",
        ),
        ((*PLAN, "--adjust-for", "lenght"), "--adjust-for: No covariate 'lenght'."),
    ],
)
def test_what_cannot_be_done_is_told(here: Path, arguments: tuple[str, ...], says: str):
    (here / "fairrec.toml").write_text("# by hand\n")
    before = (here / "users.parquet").read_bytes()
    ran = run_here(*arguments, "--quiet", "--settings", "none")
    assert (ran.code, ran.stdout) == (2, "")
    assert says in ran.stderr
    assert (here / "users.parquet").read_bytes() == before
    assert (here / "fairrec.toml").read_text() == "# by hand\n"


def test_a_plan_by_the_name_of_settings_is_followed_in_its_own_folder(here: Path):
    small = (*PLAN, "--permutations", "19")
    assert run_here(*small, "--out", "fairrec.toml").code == 0
    ran = run_here("audit", "predictions.parquet", "--plan", "fairrec.toml")
    assert (ran.code, ran.stderr) == (0, "")
    assert "As planned (fairrec.toml" in ran.stdout
    assert run_here(*small, "--settings", "none", "--out", "plan.toml").code == 0
    ran = run_here(*AUDIT)
    assert ran.code == 0, ran.stderr
    assert ran.stderr == ""
    assert "As planned (plan.toml" in ran.stdout
    # one that is named is no settings file, and neither is one that is found without a plan
    for more in (("--settings", "fairrec.toml", "--plan", "plan.toml"), ()):
        ran = run_here("audit", "predictions.parquet", *more)
        assert ran.code == 2
        assert "fairrec.toml: is a frozen plan" in ran.stderr
