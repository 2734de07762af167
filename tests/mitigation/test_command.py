"""`fairrec mitigate`, `fairrec rerank`, the list of re-rankers, and what they write."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from tests.builders import Tables, make_tables
from tests.end_to_end.command_line import AUDIT, Ran, files_in, run_here, write_tables

TABLES = ("--users", "users.parquet", "--items", "items.parquet", "--history", "history.parquet")
QUICK = ("--permutations", "19", "--min-support", "5", "--quiet")
AUDITED = ("--out", "audit", "--no-report")
WORST = ("--groups", "worst:10%")
BARE = ("mitigate", "predictions.parquet", *TABLES, "--by", "gender,member", *QUICK, *WORST)


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tables:
    monkeypatch.chdir(tmp_path)
    return write_tables(tmp_path, make_tables(n_users=120))


def done(*arguments: str) -> Ran:
    ran = run_here(*arguments)
    assert ran.code == 0, ran.stderr
    return ran


def test_a_table_is_mitigated_and_the_re_ranker_gives_the_same_lists_again(tables: Tables):
    said = done(*BARE, "--metric", "urd@3", "--strength", "0.6", "--seed", "3", "--out", "fixed")
    assert "one half of the users" in said.stdout
    assert set(files_in(Path("fixed"))) == {
        *("mitigation.json", "reranker.json", "predictions.parquet", "changes.parquet"),
        *("result.json", "run.json", "groups.parquet", "per_user.parquet", "report.html"),
    }
    done(*("rerank", "fixed/reranker.json", "predictions.parquet"), *TABLES, "--out", "new.csv")
    keys = ["user_id", "item_id"]
    written = pl.read_parquet("fixed/predictions.parquet").sort(keys)
    again = pl.read_csv("new.csv").sort(keys)
    assert again["score"].to_list() == written["score"].to_list()
    assert again["label"].to_list() == written["label"].to_list()
    model = tables.predictions.sort(keys)
    assert again["model_score"].to_list() == model["score"].to_list()
    assert again["score"].to_list() != model["score"].to_list()


def test_a_mitigation_over_an_audit_needs_force_and_spares_what_it_reads(tables: Tables):
    done("audit", "predictions.parquet", *TABLES, *QUICK, "--by", "gender", "--out", "old")
    ran = run_here(*BARE, "--metric", "urd@3", "--out", "old")
    assert ran.code == 2
    assert "old: holds an audit, which a mitigation would replace as a whole" in ran.stderr
    shutil.copy("predictions.parquet", "old/predictions.parquet")
    lists = ("mitigate", "old/predictions.parquet", *BARE[2:], "--metric", "urd@3")
    ran = run_here(*lists, "--out", "old", "--force")
    assert "predictions.parquet there is read for a mitigation" in ran.stderr
    assert not Path("old/mitigation.json").exists()
    done(*BARE, "--metric", "urd@3", "--strength", "0.6", "--out", "old", "--force")
    assert Path("old/mitigation.json").exists()


def test_validation_targets_are_chosen_by_and_the_others_reported(tables: Tables):
    other = make_tables(n_users=120, seed=1).predictions
    other.write_parquet("validation.parquet")
    said = done(
        *BARE,
        "--metric",
        "ndcg@3",
        "--validation",
        "validation.parquet",
        "--out",
        "out",
        "--verbose",
    )
    run = json.loads(Path("out/run.json").read_text())
    assert run["inputs"]["validation"]["given"] == "validation.parquet"
    assert "chosen on the validation targets \\(120 users\\)" in said.stdout


def test_groups_can_come_from_a_file_and_every_output_names_them(tables: Tables):
    Path("groups.csv").write_text("gender,member\nF,\n")
    options = ("--groups", "groups.csv", "--strength", "1")
    for output, written in (("text", ()), ("markdown", ("--out", "fixed"))):
        said = done(*BARE, "--metric", "urd@3", *options, *written, "--format", output)
        assert "gender=F" in said.stdout
    page = Path("fixed/report.html").read_text("utf-8")
    assert "gender=F" in page


def test_the_page_is_written_anew_with_its_section(tables: Tables):
    done(*BARE, "--metric", "urd@3", "--out", "fixed")
    written = Path("fixed/report.html").read_bytes()
    assert b'id="mitigation"' in written
    done("report", "fixed", "--out", "fixed/report.html")
    assert Path("fixed/report.html").read_bytes() == written
    done(*BARE, "--metric", "urd@3", "--out", "bare", "--no-report")
    assert not Path("bare/report.html").exists()


def test_re_rankers_are_listed(tables: Tables):
    listed = done("list", "rerankers").stdout
    for name in ("mmr", "popularity_calibrated", "second_opinion", "swap"):
        assert re.search(rf"^{name} ", listed, re.MULTILINE)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--metric", "urdd"), "No metric 'urdd'. Did you mean 'urd'?"),
        (("--metric", "urd@3", "--strength", "2"), "invalid --strength: expected"),
        (("--metric", "urd@3", "--groups", "none.csv"), "none.csv"),
        (("--metric", "urd@3", "--columns", "nonsense"), "nonsense"),
    ],
)
def test_bad_options_are_refused_in_words(tables: Tables, options: tuple[str, ...], says: str):
    ran = run_here(*BARE, *options, "--out", "fixed")
    assert ran.code == 2
    assert says in ran.stderr
    assert not Path("fixed").exists()


def test_the_same_targets_are_stamped(tables: Tables):
    said = done(*BARE, "--metric", "ndcg@3", "--validation", "predictions.parquet")
    assert "SAME TARGETS" in said.stdout


def test_what_is_mitigated_is_not_overwritten(tables: Tables):
    done(*AUDIT, "--by", "gender", *AUDITED, *TABLES[2:])
    before = files_in(Path("audit"))
    for force in ((), ("--force",)):
        ran = run_here("mitigate", "audit", "--metric", "urd", "--out", "audit", *force)
        assert (ran.code, files_in(Path("audit"))) == (2, before)
        assert "would be overwritten" in ran.stderr
    fixed = ("--out", "fixed", "--no-report", "--min-support", "5", *WORST)
    done("mitigate", "audit", "--metric", "urd", *fixed)
    again = run_here("mitigate", "fixed", "--metric", "urd")
    assert "holds a mitigation" in again.stderr
    assert "no such folder" in run_here("mitigate", "nowhere", "--metric", "urd").stderr


def test_without_findings_it_is_said_and_nothing_is_written(tables: Tables):
    """Users of these tables differ by chance alone."""
    fixed = ("--metric", "urd@3", "--groups", "findings", "--out", "fixed")
    for output in ("text", "json"):
        ran = run_here(*BARE, *fixed, "--format", output)
        assert (ran.code, ran.stdout) == (3, "")
        assert ran.stderr.startswith("Nothing to mitigate: no group is served significantly worse")
        assert "--groups worst:10%" in ran.stderr
        # one half of 120 users
        assert "among the 60 users to choose by" in ran.stderr
        assert not Path("fixed").exists()
    # what an earlier mitigation wrote stays as it is
    done(*BARE, "--metric", "urd@3", "--strength", "0.6", "--out", "fixed", "--no-report")
    before = files_in(Path("fixed"))
    assert run_here(*BARE, *fixed, "--force").code == 3
    assert files_in(Path("fixed")) == before


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
    names = [
        "--title",
        "Spring",
        "--model-name",
        "ranker",
        "--model-version",
        "2",
        "--author",
        "Ann",
    ]
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
    assert "run.json is not there" in ran.stderr
    assert "name the tables: fairrec mitigate PREDICTIONS --users USERS" in ran.stderr
    done("report", "audit")


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
