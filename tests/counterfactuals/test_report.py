"""A counterfactual in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairrec.counterfactuals.words import (
    changes_table,
    counterfactual_answer,
    counterfactual_markdown,
    counterfactual_view,
    headline,
    notes,
)
from tests.counterfactuals.flipped_world import blind, by_proxy, direct, flipped, people
from tests.end_to_end.command_line import run_here
from tests.fairrec_paper.models.small_run import small_run
from tests.report.small_view import answer_text


def test_the_head_names_what_is_changed_and_for_how_many():
    found = flipped(direct, permutations=0).summary
    share = found.affected.share
    assert headline(found).startswith(f"Gender alone changes the first 3 places of {share:.0%} of")
    together = found.model_copy(update={"attribute": ("gender", "age")})
    assert headline(together).startswith("Gender and age together change the first 3 places")


def test_the_table_has_everyone_and_each_change():
    table = changes_table(flipped(direct, permutations=0).summary)
    assert [row[0] for row in table.rows] == [
        "everyone",
        "gender=F → gender=M",
        "gender=M → gender=F",
    ]
    assert table.columns == ("users", "n", "changed@3", "affected@3", "mrr@3_change")
    assert table.rows[1][-1].startswith("+0.") and table.rows[2][-1].startswith("\u22120.")


def test_text_from_outside_in_the_table_is_shown_as_text():
    found = flipped(direct, permutations=0)
    name, one = "share@3[pay=<b>|\x1b[31m]_change", found.summary.pairs[0]
    odd = found.summary.model_copy(
        update={
            "changes": {name: found.summary.changes["mrr@3_change"]},
            "pairs": (one.model_copy(update={"of": "gender=\x1b[31m"}),),
        }
    )
    table = changes_table(odd)
    assert table.columns[2] == "share@3[pay=<b>|\\x1b[31m]_change"
    assert table.rows[1][0] == "gender=\\x1b[31m → gender=M"
    told = counterfactual_markdown(odd, found.audit.summary, found.audit.group_table)
    assert r"share@3\[pay=\<b\>\|\\x1b\[31m\]" in told
    assert "<b>" not in told


def test_what_it_cannot_see_stands_beside_what_the_audit_says():
    found = flipped(by_proxy)
    (said,) = [note for note in notes(found.summary) if note.startswith("a counterfactual")]
    assert "are not measured" in said
    assert said.endswith("worse") or "(gender=F)" in said
    shown = counterfactual_markdown(found.summary, found.audit.summary, found.audit.group_table)
    assert "not seen here" in shown
    # above the tables, where nobody affected would be read as an all-clear
    assert shown.index("Original attributes: mrr@3") < shown.index("### Changes, for all")
    answer = counterfactual_answer(found.summary, found.audit.summary, found.audit.group_table)
    first, second = answer_text(answer).splitlines()[:2]
    assert first.startswith("Gender alone changes") and second.startswith(
        "Original attributes: mrr@3"
    )


def test_where_nobody_is_affected_the_next_step_is_an_audit_and_else_a_limit_on_all():
    def steps(found):
        return counterfactual_view(found.summary, found.audit.summary).answer

    assert steps(flipped(blind)).next_steps == (
        "audit the lists as they are: what works by proxies is not seen here",
    )
    found = steps(flipped(direct))
    assert found.headline.startswith("gender=F is worse off as they are")
    assert found.next_steps[-1].startswith("limit the share affected: max_affected in a rule")


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
    assert "\nmrr@3_change: " in ran.stdout and "\npage: out/report.html\n" in ran.stdout
    assert "Written to out: counterfactual.json, result.json" in ran.stderr
    told = json.loads((here / "out" / "counterfactual.json").read_text())
    assert told["command"].startswith("fairrec counterfactual candidates.parquet")
    assert told["paid"]["users"] == 1200
    assert (here / "scores.ledger.gender=F").exists()
    assert run_here("report", "out", "--out", "again.html").code == 0
    again = run_here(*ASKED, "--ledger", "scores.ledger", "--format", "json", "--quiet")
    assert json.loads(again.stdout)["paid"]["users"] == 0


def test_markdown_reference_and_budget(here: Path):
    ran = run_here(
        *(*ASKED, "--reference", "gender=M", "--budget-users", "25%"),
        *("--format", "markdown", "--quiet"),
    )
    assert ran.code == 0, ran.stderr
    assert ran.stdout.startswith("# FairRec counterfactual\n\n**Gender alone, set to gender=M,")
    assert "were drawn at random and scored" in ran.stdout


def test_a_run(here: Path):
    run = small_run(here / "a")
    small = ("--min-support", "1", "--permutations", "0", "--metrics", "changed@5,ndcg@5")
    ran = run_here("counterfactual", "--run", str(run), "--attribute", "gender", *small)
    assert ran.code == 0 and "Gender alone changes the first 5 places" in ran.stdout, ran.stderr
    ran = run_here("counterfactual", "--run", str(run), "--attribute", "income")
    assert ran.code == 2 and "income itself cannot change anything" in ran.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Name a run, or candidates and a model"),
        (("candidates.parquet", "--run", "runs/a"), "Name a run, or candidates and a model"),
        (("candidates.parquet", "--attribute", "gender"), "--users is missing"),
        (
            ("candidates.parquet", "--attribute", "age", "--users", "users.parquet", "--by", "age"),
            "needs a model to score users again",
        ),
        ((*ASKED[1:], "--attribute", "town"), "town itself cannot change anything"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(here: Path, words, says):
    ran = run_here("counterfactual", *words)
    assert (ran.code, ran.stdout) == (2, "") and says in ran.stderr
    assert ran.stderr.count("\n") < 6
