"""`fairrec audit --side items` from tables to printed words, a gate and a page."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.auditing.test_audit_items import market
from tests.end_to_end.command_line import run_here

AUDIT = ("audit", "recs.parquet", "--items", "items.parquet", "--side", "items", "--by", "kind")


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    recommended, items = market(less=2.5)
    recommended.write_parquet(tmp_path / "recs.parquet")
    ids = items["item_id"]
    of_kind = items["kind"] + (ids % 20).cast(pl.String)
    items.with_columns(of_kind.alias("provider_id")).write_parquet(tmp_path / "items.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_speaks_of_items_and_of_the_catalogue(tables: Path):
    ran = run_here(*AUDIT, "--permutations", "99", "--out", "audit")
    assert ran.code == 0, ran.stderr
    assert "kind=b" in ran.stdout
    assert "of 120 items" in ran.stdout
    assert "Gini index" in ran.stdout
    page = (tables / "audit" / "report.html").read_text()
    assert "Gini index" in page
    assert "Attention-weighted rank fairness" in page


def test_providers_are_compared_by_name(tables: Path):
    options = ("--unit", "provider_id", "--permutations", "9", "--format", "json")
    ran = run_here(*AUDIT, *options)
    assert ran.code == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert result["unit"]["many"] == "providers"
    assert result["n_users"] < 120


def test_a_gate_judges_it(tables: Path):
    (tables / "policy.toml").write_text('[[rule]]\nmetric = "exposure@5"\nmax_worse = 0.001\n')
    assert run_here(*AUDIT, "--permutations", "99", "--out", "audit").code == 0
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
def test_what_does_not_go_with_items_is_said(tables: Path, options, message):
    ran = run_here(*AUDIT, *options)
    assert ran.code == 2
    assert message in " ".join(ran.stderr.split())


def test_items_have_to_be_given(tables: Path):
    ran = run_here("audit", "recs.parquet", "--side", "items", "--by", "kind")
    assert ran.code == 2
    assert "--items is missing" in ran.stderr


def test_items_without_a_side_are_told_of_it(tables: Path):
    ran = run_here("audit", "recs.parquet", "--items", "items.parquet", "--by", "kind")
    assert ran.code == 2
    assert "To compare items by columns of theirs, add --side items" in " ".join(ran.stderr.split())


def test_what_runs_is_told_of_items(tables: Path):
    ran = run_here(*AUDIT, "--permutations", "99", "--out", "audit")
    assert any("measuring 120 items" in stage for stage in ran.progress)
    page = (tables / "audit" / "report.html").read_text()
    # narrow pages name it beside each number
    assert 'data-unit="items"' in page and 'content: " users"' not in page
