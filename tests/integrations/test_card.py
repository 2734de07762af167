"""The section of a model card in its file, and the commands of other tools."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.integrations.card import BEGIN, END, put_card
from tests.builders import audit, two_groups
from tests.end_to_end.command_line import AUDIT, run_here, write_tables
from tests.mitigation.planted import mitigate, planted

BEFORE = "---\nlicense: mit\n---\r\n# Ranker\n\n"
AFTER = "\n## Training\n\ttabs and  blanks  \r\nand no end of line"


def test_a_section_is_put_at_the_end_and_then_replaced(tmp_path: Path):
    file = tmp_path / "README.md"
    file.write_bytes(f"{BEFORE}text".encode())
    put_card(file, "## One\n")
    once = file.read_bytes().decode()
    assert once == f"{BEFORE}text\n\n{BEGIN}\n## One\n{END}\n"
    put_card(file, "## One\n")
    assert file.read_bytes().decode() == once
    file.write_bytes(f"{once}{AFTER}".encode())
    put_card(file, "## Two\n\nlonger\n")
    rest = f"{BEFORE}text\n\n{BEGIN}\n## Two\n\nlonger\n{END}\n{AFTER}"
    assert file.read_bytes().decode() == rest


def test_a_file_that_is_not_there_is_made(tmp_path: Path):
    put_card(tmp_path / "new.md", "## One\n")
    assert (tmp_path / "new.md").read_text() == f"{BEGIN}\n## One\n{END}\n"


def test_the_card_of_a_mitigation_is_about_the_lists_after_it():
    result = mitigate(planted(), "ndcg@5")
    text = fairrec.card(result)
    assert "The lists were re-ranked by" in text
    assert "re-ranked by" not in fairrec.card(result.audit)
    assert fairrec.card(audit(*two_groups(), by="group")).startswith("## Fairness evaluation\n")


@pytest.mark.parametrize("given", ["folder", None])
def test_what_is_no_result_has_no_card(given):
    with pytest.raises(InputError, match=r"invalid result: .*fairrec\.load it"):
        fairrec.card(given)


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
    ran = run_here("mlflow", "out", "--tracking-uri", "http://ann:s3cr3t-pass@127.0.0.1:9")
    assert ran.code == 2
    assert "MLflow: " in ran.stderr and "127.0.0.1" in ran.stderr
    assert "s3cr3t-pass" not in ran.stderr + ran.stdout


def test_a_card_is_printed_or_put_into_a_file(saved: Path):
    printed = run_here("card", "out")
    assert printed.code == 0 and printed.stdout.startswith("## Fairness evaluation\n")
    Path("README.md").write_text("# Ranker\n")
    assert run_here("card", "out", "--into", "README.md", "--quiet").stderr == ""
    text = Path("README.md").read_text("utf-8")
    assert text.startswith("# Ranker\n") and printed.stdout in text


def test_a_comparison_is_no_audit(saved: Path):
    audit = fairrec.load(saved)
    fairrec.compare(audit, audit).save("compared", report=False)
    for command in ("card", "mlflow"):
        ran = run_here(command, "compared")
        assert (ran.code, ran.stdout) == (2, "")
        assert "holds a comparison" in ran.stderr or "MLflow needs" in ran.stderr


def test_a_card_is_written_over_no_file_of_the_audit(saved: Path):
    before = (saved / "result.json").read_bytes()
    ran = run_here("card", "out", "--into", "out/result.json")
    assert ran.code == 2 and "which --into would overwrite" in ran.stderr
    assert (saved / "result.json").read_bytes() == before
