"""`fairrec-paper search-bench`: its options, what it prints and what it writes."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from fairrec.demo.world_options import WorldOptions
from fairrec_paper.datasets.synthetic import SHAPES
from tests.builders import make_tables
from tests.end_to_end.command_line import write_tables
from tests.fairrec_paper.command_line import run_paper

FILES = ["accuracy.csv", "convergence.csv", "search.svg", "worst.csv"]
BENCH = ("search-bench", "predictions.parquet", "--users", "users.parquet", "--by", "gender,member")


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tables = make_tables(200)
    write_tables(tmp_path, tables)
    tables.items.rename({"categories": "tags"}).write_parquet(tmp_path / "items.parquet")
    return tmp_path


def test_tables_are_searched_with_all_options(tables: Path):
    ran = run_paper(
        *(*BENCH, "--items", "items.parquet", "--history", "history.parquet"),
        *("--metrics", "auc,urd@5,urp@5", "--columns", "items.categories=tags"),
        *("--searchers", "adaptive, testsgd", "--seeds", "2", "--budgets", "50%,7.5%,100%"),
        *("--min-support", "10", "--hyper", "testsgd.theta=0,adaptive.steps=2"),
        *("--seed", "5", "--out", "new/figures", "--debug"),
    )
    assert ran.code == 0
    written = "Written to new/figures: accuracy.csv, convergence.csv, worst.csv, search.svg\n"
    assert ran.stderr == written
    assert sorted(path.name for path in Path("new/figures").iterdir()) == FILES
    accuracy = pl.read_csv("new/figures/accuracy.csv")
    # searchers, metrics, seeds, budgets
    assert accuracy.height == 2 * 3 * 2 * 3
    assert accuracy["seed"].unique().sort().to_list() == [5, 6]
    assert accuracy["budget"].unique().sort().to_list() == [0.075, 0.5, 1.0]
    assert accuracy.filter(searcher="testsgd", budget=1.0)["accuracy"].to_list() == [1.0] * 6
    convergence = pl.read_csv("new/figures/convergence.csv")
    assert convergence.height == 2 * 3 * 2
    # groups in two steps, so more is asked than there are groups
    adaptive = convergence.filter(searcher="adaptive")
    assert (adaptive["asks"] > adaptive["groups"]).all()
    ElementTree.parse("new/figures/search.svg")
    assert "predictions.parquet" in ran.stdout
    assert "mean and spread of 2 seeds" in ran.stdout
    lines = [line.strip("| ").split(" | ") for line in ran.stdout.splitlines()]
    row, *worst = [line for line in lines if line[0] == "testsgd"]
    assert row[3:6] == ["1.000±.000", "1.000±.000", "100%"]
    # with everyone scored every one of the worst groups is found
    assert {line[-1] for line in worst} == {"1.000±.000"}
    found = pl.read_csv("new/figures/worst.csv")
    assert len(worst) == found["worst"].n_unique() >= 1
    assert found.filter(searcher="testsgd", budget=1.0)["share"].unique().to_list() == [1.0]


def test_a_shape_is_searched_and_called_synthetic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(SHAPES, "tiny", WorldOptions(n_users=300, n_items=80))
    arguments = ("--shape", "tiny", "--seeds", "1", "--searchers", "random", "--budgets", "50%")
    ran = run_paper("search-bench", *arguments, "--out", "out")
    assert ran.code == 0
    assert "synthetic world shaped like tiny" in ran.stdout
    assert "auc, mrr@5, ndcg@5, urd@5, urp@5" in ran.stdout
    assert "synthetic world shaped like tiny" in Path("out/search.svg").read_text("utf-8")
    other = run_paper("search-bench", *arguments, "--by", "gender", "--seed", "1")
    assert "in 2 groups" in other.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Name a table of predictions, a run or a shape"),
        (("predictions.parquet", "--by", "gender"), "--users is missing"),
        (("predictions.parquet", "--users", "users.parquet"), "--by is missing"),
        (("--shape", "blackfridy"), "Did you mean 'blackfriday'"),
        (("--shape", "blackfriday", "--users", "users.parquet"), "Leave out --users"),
        ((*BENCH[1:], "--out", "users.parquet"), "is a file, not a folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(tables: Path, arguments: tuple[str, ...], says: str):
    before = sorted(tables.iterdir())
    ran = run_paper("search-bench", *arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert says in ran.stderr
    assert sorted(tables.iterdir()) == before
