"""`fairrec mlflow` and `fairrec card`."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairrec
from tests.end_to_end.command_line import AUDIT, run_here, write_tables
from tests.integrations.tracking import mlflow

__all__ = ["mlflow"]


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    assert run_here(*AUDIT, "--by", "gender", "--out", "out", "--no-report").code == 0
    return tmp_path / "out"


def test_a_saved_audit_is_logged_and_the_run_is_printed(mlflow, saved: Path):
    ran = run_here("mlflow", "out", "--experiment", "audits")
    assert ran.code == 0, ran.stderr
    run = mlflow.get_run(ran.stdout.strip())
    assert run.data.params["fairrec.by"] == "gender"
    assert mlflow.get_experiment(run.info.experiment_id).name == "audits"
    assert "Logged" in ran.stderr
    again = run_here("mlflow", "out", "--run-id", run.info.run_id, "--per-user", "--quiet")
    assert (again.stdout, again.stderr) == (ran.stdout, "")
    files = mlflow.MlflowClient().list_artifacts(run.info.run_id, "fairrec")
    assert "fairrec/per_user.parquet" in {file.path for file in files}


def test_a_server_that_cannot_be_reached_is_an_error_without_its_password(mlflow, saved: Path):
    address = "http://ann:s3cr3t-pass@127.0.0.1:9"
    ran = run_here("mlflow", "out", "--tracking-uri", address)
    assert ran.code == 2
    assert "MLflow: " in ran.stderr and "127.0.0.1" in ran.stderr
    assert "s3cr3t-pass" not in ran.stderr + ran.stdout


def test_what_is_no_audit_is_not_logged(mlflow, saved: Path):
    ran = run_here("mlflow", "nowhere")
    assert (ran.code, ran.stdout) == (2, "")
    assert "nowhere" in ran.stderr


def test_a_card_is_printed_written_or_put_into_a_file(saved: Path):
    printed = run_here("card", "out")
    assert printed.code == 0 and printed.stdout.startswith("## Fairness evaluation\n")
    ran = run_here("card", "out", "--out", "section.md")
    assert (ran.code, ran.stdout, ran.stderr) == (0, "", "Written: section.md\n")
    assert Path("section.md").read_text("utf-8") == printed.stdout
    Path("README.md").write_text("# Ranker\n")
    assert run_here("card", "out", "--into", "README.md", "--quiet").stderr == ""
    text = Path("README.md").read_text("utf-8")
    assert text.startswith("# Ranker\n") and printed.stdout in text
    both = run_here("card", "out", "--into", "README.md", "--out", "section.md")
    assert both.code == 2 and "--out and --into" in both.stderr


def test_a_comparison_is_no_audit(saved: Path):
    audit = fairrec.load(saved)
    fairrec.compare(audit, audit).save("compared", report=False)
    for command in ("card", "mlflow"):
        ran = run_here(command, "compared")
        assert (ran.code, ran.stdout) == (2, "")
        assert "holds a comparison" in ran.stderr or "MLflow needs" in ran.stderr


@pytest.mark.parametrize("option", ["--out", "--into"])
def test_a_card_is_written_over_no_file_of_the_audit(saved: Path, option: str):
    before = (saved / "result.json").read_bytes()
    ran = run_here("card", "out", option, "out/result.json")
    assert ran.code == 2 and f"which {option} would overwrite" in ran.stderr
    assert (saved / "result.json").read_bytes() == before
