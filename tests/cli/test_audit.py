"""`fairrec audit`, of users and of items: what it takes, and what it makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.auditing.test_audit_items import market
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


def test_unless_told_otherwise_the_smallest_group_has_ten_users(tables: Path):
    ran = run_here(*AUDIT[:4], "--by", "gender,member", "--permutations", "0", "--format", "json")
    coverage = json.loads(ran.stdout)["coverage"]
    assert (coverage["min_support"], coverage["min_users"]) == (None, 10)
    assert coverage["n_users_below"] > 0
    ran = run_here(*AUDIT[:4], "--by", "age")
    assert ran.code == 2
    assert "smallest group: 0.1% of users, at least 10" in ran.stderr


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
        assert "Name one source: RECOMMENDATIONS --test TEST" in ran.stderr
    ran = run_here("audit", "--run", "nowhere")
    assert ran.code == 2
    assert "no run there" in ran.stderr


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


def test_the_outcome_of_a_gate_is_written_over_no_table_and_no_result(tables: Path):
    Path("fairrec.toml").write_text('[[rule]]\nmetric = "ndcg@10"\nmax_worse = 0.5\n')
    before = {path: path.read_bytes() for path in tables.iterdir()}
    for file in ("users.parquet", "predictions.parquet", "out/result.json", "out/report.html"):
        ran = run_here(*AUDIT, "--by", "gender", "--out", "out", "--gate", "--junit", file)
        assert ran.code == 2 and "--junit would overwrite it" in ran.stderr
        assert {path: path.read_bytes() for path in tables.iterdir()} == before


AUDIT_ITEMS = (
    "audit",
    "recs.parquet",
    "--items",
    "items.parquet",
    "--side",
    "items",
    "--by",
    "kind",
)


@pytest.fixture
def item_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    recommended, items = market(less=2.5)
    recommended.write_parquet(tmp_path / "recs.parquet")
    ids = items["item_id"]
    of_kind = items["kind"] + (ids % 20).cast(pl.String)
    items.with_columns(of_kind.alias("provider_id")).write_parquet(tmp_path / "items.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_speaks_of_items_and_of_the_catalogue(item_tables: Path):
    ran = run_here(*AUDIT_ITEMS, "--permutations", "99", "--out", "audit")
    assert ran.code == 0, ran.stderr
    assert "kind=b" in ran.stdout
    assert "120 items" in ran.stdout
    assert "Gini index" in " ".join(ran.stdout.split())
    page = (item_tables / "audit" / "report.html").read_text()
    assert "Gini index" in page


def test_providers_are_compared_by_name(item_tables: Path):
    options = ("--unit", "provider_id", "--permutations", "9", "--format", "json")
    ran = run_here(*AUDIT_ITEMS, *options)
    assert ran.code == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert result["unit"]["many"] == "providers"
    assert result["n_users"] < 120


def test_a_gate_judges_it(item_tables: Path):
    (item_tables / "policy.toml").write_text('[[rule]]\nmetric = "exposure@5"\nmax_worse = 0.001\n')
    assert run_here(*AUDIT_ITEMS, "--permutations", "99", "--out", "audit").code == 0
    ran = run_here("gate", "audit", "--policy", "policy.toml")
    assert ran.code == 1, ran.stderr
    assert "kind=b" in ran.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--search", "adaptive"), "Leave out --search"),
        (("--users", "items.parquet"), "Leave out --users"),
        (("--metrics", "ndcg@5"), "Of items: exposure@k"),
        (("--engine", "ray"), "Leave out --engine"),
    ],
)
def test_what_does_not_go_with_items_is_said(item_tables: Path, options, message):
    ran = run_here(*AUDIT_ITEMS, *options)
    assert ran.code == 2
    assert message in " ".join(ran.stderr.split())
