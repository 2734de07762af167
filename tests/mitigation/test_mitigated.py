"""What `fairrec mitigate` is told by the folder it is given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import Tables
from tests.end_to_end.command_line import AUDIT, run_here
from tests.mitigation.test_command import AUDITED, BARE, TABLES, WORST, done, tables

__all__ = ["tables"]


def test_an_audit_is_mitigated_from_its_own_tables(tables: Tables):
    done(*AUDIT, "--by", "gender,age:20", "--min-support", "5", *AUDITED, *TABLES[2:])
    said = done("mitigate", "audit", *WORST, "--metric", "urd", "--format", "json", "--quiet")
    mitigation = json.loads(said.stdout)
    assert mitigation["metric"] == "urd@5"
    assert set(mitigation["groups"][0]["group"]) == {"gender", "age"}
    assert {"auc", "mrr@5", "ndcg@5", "urd@5", "urp@5"} <= set(mitigation["effects"])
    tables.users.head(100).write_parquet("users.parquet")
    changed = run_here("mitigate", "audit", "--metric", "urd")
    assert changed.code == 2
    assert "users.parquet has changed since this audit" in changed.stderr
    Path("users.parquet").unlink()
    gone = run_here("mitigate", "audit", "--metric", "urd")
    assert "users table of this audit, users.parquet, is not there" in gone.stderr


def test_an_audit_is_mitigated_from_anywhere_and_keeps_its_names(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    names = (
        "--title",
        "Spring",
        "--model-name",
        "ranker",
        "--model-version",
        "2",
        "--author",
        "Ann",
    )
    done(*AUDIT, "--by", "gender", "--min-support", "5", *AUDITED, *TABLES[2:], *names)
    away = tmp_path / "away"
    away.mkdir()
    monkeypatch.chdir(away)
    again = ("mitigate", str(tmp_path / "audit"), "--metric", "urd", "--strength", "0.5", *WORST)
    for out in ("one", "two"):
        done(*again, "--model-version", "2b", "--out", out, "--quiet")
    for name in ("result.json", "mitigation.json"):
        one, two = (Path(out, name).read_text() for out in ("one", "two"))
        assert one == two
        assert str(tmp_path) not in one
        assert json.loads(one)["command"].startswith("fairrec mitigate audit --metric urd")
    audit = json.loads(Path("one/result.json").read_text())
    assert (audit["title"], audit["model"]) == ("Spring", {"name": "ranker", "version": "2b"})
    page = Path("one/report.html").read_text("utf-8")
    assert str(tmp_path) not in page
    assert "<bdi>ranker@2b</bdi>" in page
    run = json.loads(Path("one/run.json").read_text())
    assert run["output"] == {"given": "one", "absolute": str(away / "one")}
    assert run["inputs"]["users"]["absolute"] == str(tmp_path / "users.parquet")
    assert str(tmp_path / "audit") in run["command"]
    # tables that went elsewhere are found where they were named from
    (tmp_path / "users.parquet").rename(away / "users.parquet")
    done(*again)


def test_an_audit_without_a_run_says_what_is_missing(tables: Tables):
    done(*AUDIT, "--by", "gender", *AUDITED)
    Path("audit/run.json").unlink()
    ran = run_here("mitigate", "audit", "--metric", "mrr")
    assert ran.code == 2
    assert "audit: has no run.json, which says where the tables" in ran.stderr
    assert "name the tables: fairrec mitigate PREDICTIONS --users USERS" in ran.stderr
    done("report", "audit")


def test_an_audit_of_tables_in_parts_is_mitigated_from_all_of_them(tables: Tables):
    Path("people").mkdir()
    tables.users.head(100).write_parquet("people/part-0.parquet")
    tables.users.slice(100).write_parquet("people/part-1.parquet")
    in_parts = ["audit", "predict*.parquet", "--users", "people", "--by", "gender,age:20"]
    done(*in_parts, "--min-support", "5", *AUDITED, *TABLES[2:])
    done("mitigate", "audit", *WORST, "--metric", "urd", "--quiet")
    tables.users.slice(100).reverse().write_parquet("people/part-1.parquet")
    changed = run_here("mitigate", "audit", "--metric", "urd")
    assert "people has changed since this audit" in changed.stderr


def test_what_is_neither_audit_nor_run_nor_table_is_refused(tables: Tables):
    Path("empty").mkdir()
    assert "neither an audit" in run_here("mitigate", "empty", "--metric", "urd").stderr
    missing = run_here("mitigate", "predictions.parquet", "--metric", "urd")
    assert "--users is missing" in missing.stderr
    Path("damaged.json").write_text("{")
    damaged = run_here("rerank", "damaged.json", "predictions.parquet", *TABLES, "--out", "n.csv")
    assert "is no re-ranker of this version" in damaged.stderr
    done(*BARE, "--metric", "urd@3", "--strength", "0.5", "--out", "fixed", "--no-report")
    odd = run_here(
        "rerank", "fixed/reranker.json", "predictions.parquet", *TABLES, "--out", "n.txt"
    )
    assert "is no Parquet or CSV file" in odd.stderr
