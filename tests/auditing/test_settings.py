"""Settings that are found or named, and an audit by a plan, with the real command."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fairrec.auditing.settings import settings_file
from fairrec.core.files import file_sum
from tests.end_to_end.command_line import run_here, write_tables

SETTINGS = 'by = ["gender"]\nmetrics = "auc"\npermutations = 9\nusers = "users.parquet"\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audited(*options: str, says: str = "") -> dict:
    ran = run_here("audit", "predictions.parquet", "--format", "json", "--quiet", *options)
    assert ran.code == 0, ran.stderr
    assert ran.stderr == says
    return json.loads(ran.stdout)


def test_a_file_is_found_in_the_working_folder_and_only_there(here: Path):
    assert settings_file(None) is None
    (here / "fairrec.toml").write_text(SETTINGS)
    assert settings_file(None) == Path("fairrec.toml")
    assert settings_file(Path("none")) is None
    assert settings_file(Path("other.toml")) == Path("other.toml")
    (here / "deeper").mkdir()
    os.chdir("deeper")
    assert settings_file(None) is None
    Path("fairrec.toml").symlink_to("nowhere")
    assert settings_file(None) == Path("fairrec.toml")


def test_settings_that_are_found_are_used_said_and_recorded(here: Path):
    (here / "fairrec.toml").write_text(SETTINGS)
    ran = run_here("audit", "predictions.parquet", "--format", "json")
    assert ran.code == 0, ran.stderr
    assert ran.stderr == "settings from fairrec.toml: by, metrics, permutations, users\n"
    result = json.loads(ran.stdout)
    assert [*result["metrics"]] == ["auc"]
    assert result["permutations"] == 9
    assert result["settings"] == {
        "file": "fairrec.toml",
        "sha256": file_sum(here / "fairrec.toml"),
        "options": ["by", "metrics", "permutations", "users"],
    }
    assert result["plan"] is None


def test_the_command_line_beats_settings_and_settings_can_be_left_aside(here: Path):
    (here / "fairrec.toml").write_text(SETTINGS)
    # it is said even where all else is quiet, because nobody asked for what was found
    said = "settings from fairrec.toml: permutations, users\n"
    result = audited("--metrics", "mrr@3", "--by", "member", says=said)
    assert ([*result["metrics"]], result["by"]) == (["mrr@3"], ["member"])
    assert result["settings"]["options"] == ["permutations", "users"]
    ran = run_here("audit", "predictions.parquet", "--settings", "none")
    assert ran.code == 2
    assert "Give it: --users FILE" in ran.stderr
    (here / "other.toml").write_text(SETTINGS.replace("= 9", "= 5"))
    assert audited("--settings", "other.toml")["permutations"] == 5


def test_paths_lead_from_the_folder_of_the_settings(here: Path):
    (here / "ci").mkdir()
    (here / "ci" / "mine.toml").write_text(SETTINGS.replace("users.p", "../users.p"))
    audited("--settings", "ci/mine.toml", "--out", "out", "--no-report")
    users = json.loads(Path("out/run.json").read_text())["inputs"]["users"]
    assert users == {"given": "ci/../users.parquet", "absolute": str(here / "users.parquet")}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            'min-support = "1%"',
            "UnknownNameError: fairrec.toml: No setting 'min-support'. Did you mean 'min_support'?",
        ),
        ("alpha = 2", "fairrec.toml: invalid 'alpha': expected a number from 0.0001 to 0.5, got 2"),
        ("alpha = ", "InputError: fairrec.toml: is no TOML (Invalid value"),
        ('load = "evil.py"', "fairrec.toml: No setting 'load'."),
        ("[plan]\nchecksum = 'x'", "is a frozen plan. Run it as one: --plan fairrec.toml"),
    ],
)
def test_settings_that_cannot_be_used_end_the_command(here: Path, text: str, says: str):
    (here / "fairrec.toml").write_text(text)
    ran = run_here("audit", "predictions.parquet", "--users", "users.parquet", "--by", "gender")
    assert (ran.code, ran.stdout) == (2, "")
    assert says in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
