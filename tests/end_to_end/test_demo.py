from __future__ import annotations

import polars as pl
from typer.testing import CliRunner

from fairrec.cli import app
from fairrec.result.audit_result import load_summary
from fairrec.workflows.demo import PLANTED


def test_the_demo_finds_the_planted_group_and_says_what_to_do_next(tmp_path):
    folder = tmp_path / "demo"
    done = CliRunner().invoke(app, ["demo", "--out", str(folder), "--quiet"])
    assert done.exit_code == 0, done.output
    summary = load_summary(folder / "audit")
    for name in ("auc", "mrr@5", "ndcg@5"):
        worst = summary.metrics[name].findings[0]
        assert worst.group == PLANTED
        assert worst.difference < 0
    last = done.output.strip().splitlines()[-1]
    assert last.strip().startswith("fairrec audit")
    assert pl.read_parquet(folder / "predictions.parquet").height == 4000 * 50


def test_the_command_the_demo_offers_gives_the_same_result(tmp_path):
    folder = tmp_path / "demo"
    runner = CliRunner()
    done = runner.invoke(app, ["demo", "--out", str(folder), "--quiet", "--seed", "1"])
    first = load_summary(folder / "audit")
    command = done.output.strip().splitlines()[-1].split()[1:]
    again = runner.invoke(app, [*command, "--quiet"])
    assert again.exit_code == 0, again.output
    assert load_summary(folder / "audit").metrics == first.metrics
