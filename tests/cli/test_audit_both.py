"""`fairrec audit --side both` from tables to printed words, a gate and a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.command_line import run_here
from tests.workflows.two_sides import two_sided

FILES = ("--test", "test.parquet", "--users", "users.parquet", "--items", "items.parquet")
BY = ("--by-users", "gender", "--by-items", "kind")
AUDIT = ("audit", "predictions.parquet", *FILES, "--side", "both", *BY, "--permutations", "99")


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, table in two_sided().items():
        table.write_parquet(tmp_path / f"{name}.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_both_verdicts_are_printed_and_written(tables: Path):
    ran = run_here(*AUDIT, "--out", "audit")
    assert ran.code == 0, ran.stderr
    first, _, _ = ran.stdout.partition("users -")
    assert "gender=F is served worse" in first
    assert "kind=b is exposed less" in first
    assert "both.json, report.html; in users/ and items/ result.json" in ran.stderr
    again = run_here(*AUDIT, "--out", "audit", "--format", "json", "--quiet")
    said = json.loads(again.stdout)
    assert said["outcome"] == "worse"
    assert {*said["items"]["metrics"]} == {"exposure@5", "exposure_to_relevance@5"}
    assert run_here(*AUDIT, "--format", "markdown").stdout.startswith("# FairRec audit of both")


def test_the_page_is_written_anew_with_links_where_pages_are(tables: Path):
    run_here(*AUDIT, "--out", "audit")
    page = tables / "audit" / "report.html"
    before = page.read_text(encoding="utf-8")
    page.unlink()
    assert run_here("report", "audit").code == 0
    assert page.read_text(encoding="utf-8") == before
    (tables / "audit" / "items" / "report.html").unlink()
    assert run_here("report", "audit", "--out", "elsewhere.html").code == 0
    assert "report.html" not in (tables / "elsewhere.html").read_text(encoding="utf-8")


def test_what_both_sides_need_is_asked_for(tables: Path):
    ran = run_here(*(word for word in AUDIT if word not in ("--by-items", "kind")))
    assert ran.code == 2
    assert "--by-items is missing" in ran.stderr
    ran = run_here(*AUDIT, "--out", "audit")
    for words in (("card", "audit"), ("mlflow", "audit")):
        ran = run_here(*words)
        assert ran.code == 2
        assert "users or items in it" in ran.stderr


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        # a side without a rule would pass unseen
        (("mrr@5", 0.9), 2),
        (("exposure@5", 0.001), 2),
        (("mrr@5", 0.9, "exposure@5", 0.001), 1),
        (("mrr@5", 0.9, "exposure@5", 0.9), 0),
    ],
)
def test_the_gate_takes_the_worse_of_both(tables: Path, rules, code):
    pairs = zip(rules[::2], rules[1::2], strict=True)
    policy = tables / "policy.toml"
    policy.write_text(
        "".join(f'[[rule]]\nmetric = "{name}"\nmax_worse = {most}\n' for name, most in pairs)
    )
    ran = run_here(*AUDIT, "--out", "audit", "--gate", "--policy", "policy.toml")
    assert ran.code == code, ran.stderr
    ran = run_here("gate", "audit", "--policy", "policy.toml")
    assert ran.code == code, ran.stderr
    if code == 2:
        assert "no rule is about" in ran.stderr
    else:
        assert "(30 items)" in ran.stdout
