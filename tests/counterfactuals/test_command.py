"""`fairrec counterfactual`, with the real command."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.counterfactuals.flipped_world import people
from tests.counterfactuals.test_counterfactual_served import served
from tests.end_to_end.command_line import run_here
from tests.fairrec_paper.models.runs.small_run import small_run

SCORER = """
import numpy as np

def score(user_ids, item_ids, gender):
    return np.where(gender == "F", item_ids, -item_ids)
"""
ASKED = (
    *("counterfactual", "candidates.parquet", "--users", "users.parquet", "--by", "gender,age"),
    *("--scorer", "gendered_ranker:score", "--features", "users:gender", "--attribute", "gender"),
    *("--metrics", "changed@3,mrr@3", "--permutations", "99"),
)
WITHOUT = tuple(word for word in ASKED if word not in ("--attribute", "gender"))
SERVED = (*ASKED[:6], "--endpoint", "http://127.0.0.1:9/a", "--protocol", "json")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    people().candidates.write_parquet(tmp_path / "candidates.parquet")
    people().users.write_parquet(tmp_path / "users.parquet")
    # a name of its own: what another test imported stays imported
    (tmp_path / "gendered_ranker.py").write_text(SCORER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_answer_comes_first_and_files_are_written(here: Path):
    ran = run_here(*ASKED, "--out", "out", "--ledger", "scores.ledger")
    assert ran.code == 0, ran.stderr
    assert ran.stdout.startswith("Gender alone changes the first 3 places of 100% of 600 users")
    assert "gender=F → gender=M" in ran.stdout
    assert "Written to out: counterfactual.json, result.json" in ran.stderr
    told = json.loads((here / "out" / "counterfactual.json").read_text())
    assert told["command"].startswith("fairrec counterfactual candidates.parquet")
    assert told["paid"]["users"] == 1200
    assert (here / "scores.ledger.gender=F").exists()
    assert run_here("report", "out", "--out", "again.html").code == 0
    again = run_here(*ASKED, "--ledger", "scores.ledger", "--format", "json", "--quiet")
    assert json.loads(again.stdout)["paid"]["users"] == 0


def test_markdown_reference_budget_and_margin(here: Path):
    ran = run_here(
        *(*ASKED, "--reference", "gender=M", "--budget-users", "50%", "--margin", "0.1"),
        *("--format", "markdown", "--quiet"),
    )
    assert ran.code == 0, ran.stderr
    assert ran.stdout.startswith("# FairRec counterfactual\n\n**Gender alone, set to gender=M,")
    assert "was reached" in ran.stdout


def test_a_run_and_another_one(here: Path):
    run = small_run(here / "a")
    other = small_run(here / "b", seed=1)
    small = ("--min-support", "1", "--permutations", "0", "--metrics", "changed@5,ndcg@5")
    ran = run_here("counterfactual", "--run", str(run), "--attribute", "gender", *small)
    assert ran.code == 0 and "Gender alone changes the first 5 places" in ran.stdout, ran.stderr
    ran = run_here("counterfactual", "--run", str(run), "--other-model", str(other), *small)
    assert ran.code == 0 and ran.stdout.startswith("The other model changes"), ran.stderr
    ran = run_here("counterfactual", "--run", str(run), "--attribute", "income")
    assert ran.code == 2 and "users.parquet: No column 'income'. Known: age, gen" in ran.stderr


def test_another_address_is_asked_as_the_first_is_and_its_query_is_not_kept(here: Path):
    with served(here / "log") as url:
        ran = run_here(
            *(*ASKED[:6], "--endpoint", url, "--other-model", f"{url}?key=secret", "--quiet"),
            *("--protocol", "json", "--features", "users:gender", "--metrics", "changed@3"),
            *("--permutations", "0", "--out", "out"),
        )
    assert ran.code == 0, ran.stderr
    assert ran.stdout.startswith("The other model changes the first 3 places of 0% of 600 users")
    assert not any(b"secret" in one.read_bytes() for one in (here / "out").iterdir())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Name a run, or candidates and a model"),
        (("candidates.parquet", "--run", "runs/a"), "Name a run, or candidates and a model"),
        (("candidates.parquet", "--attribute", "gender"), "--users is missing"),
        (
            ("candidates.parquet", "--attribute", "age", "--users", "users.parquet", "--by", "age"),
            "Name the model that is asked",
        ),
        ((*ASKED[1:], "--attribute", "town"), "town itself cannot change anything"),
        ((*WITHOUT[1:], "--other-model", "ranker:other"), "a function goes in Python"),
        (
            (*SERVED[1:], "--other-model", "http://localhost:9/b", "--token-env", "PATH"),
            "--token-env is for the host of --endpoint",
        ),
    ],
)
def test_what_cannot_be_is_said_in_a_line(here: Path, words, says):
    ran = run_here("counterfactual", *words)
    assert (ran.code, ran.stdout) == (2, "") and says in ran.stderr
    assert ran.stderr.count("\n") < 6


def test_lists_of_another_run_are_compared_by_an_audit(here: Path):
    lists = people().candidates
    falling = pl.col("item_id").list.eval(-pl.element())
    lists.with_columns(score=falling).write_parquet("own.parquet")
    lists.select("user_id", pl.col("item_id").list.reverse()).write_parquet("other.parquet")
    ran = run_here(
        *("audit", "own.parquet", "--users", "users.parquet", "--by", "gender"),
        *("--against-lists", "other.parquet", "--metrics", "changed@6,tau,rbo@5"),
        *("--permutations", "9", "--format", "json"),
    )
    assert ran.code == 0, ran.stderr
    means = {name: one["mean"] for name, one in json.loads(ran.stdout)["metrics"].items()}
    assert means == {"changed@6": 1.0, "tau": -1.0, "rbo@5": 0.0}
