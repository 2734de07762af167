from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fairrec.demo.demo import PLANTED
from fairrec.result.saved import load_summary
from tests.end_to_end.command_line import run_here


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder of one demo, and the command it offers at the end."""
    folder = tmp_path_factory.mktemp("world") / "demo"
    done = run_here("demo", "--out", str(folder), "--quiet", "--seed", "1")
    assert done.code == 0, done.stderr
    return folder, done.stdout.strip().splitlines()[-1].split()


def test_the_demo_finds_the_planted_group_and_says_what_to_do_next(demo):
    folder, offered = demo
    summary = load_summary(folder / "audit")
    for name in ("auc", "mrr@5", "ndcg@5"):
        worst = summary.metrics[name].findings[0]
        assert worst.group == PLANTED
        assert worst.difference < 0
    assert offered[:2] == ["fairrec", "audit"]
    assert pl.read_parquet(folder / "predictions.parquet").height == 4000 * 50


def test_the_command_the_demo_offers_gives_the_same_result(demo):
    folder, offered = demo
    first = load_summary(folder / "audit")
    again = run_here(*offered[1:], "--quiet", "--no-report")
    assert again.code == 0, again.stderr
    assert load_summary(folder / "audit").metrics == first.metrics
