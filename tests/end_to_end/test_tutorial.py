"""The tutorial, followed step by step as it stands, and the workflow it ends with."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from tests.end_to_end.command_line import Ran, run_here

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.S)
SAVED = re.compile(r"[Ss]ave\w* (?:it )?as `(\S+)`:\s*$")


def steps() -> list[tuple[str, str, str]]:
    """Kind, file it is saved as, content of every block of the page."""
    page = (DOCS / "tutorial.md").read_text()
    found = []
    for block in BLOCK.finditer(page):
        named = SAVED.search(page[: block.start()])
        found.append((block[1], named[1] if named else "", block[2]))
    return found


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """A command as somebody types it who has FairRec installed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "200", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def typed(command: str) -> Ran:
    """The same in this process, where the process is not what is tested."""
    program, *words = shlex.split(command)
    if program == "fairrec":
        return run_here(*words)
    assert program == "python"
    with patch.object(sys, "argv", words):
        runpy.run_path(words[0], run_name="__main__")
    return Ran(0, "", "")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the tutorial was followed, and everything came out as it says."""
    folder, code, n_commands = tmp_path_factory.mktemp("tutorial"), 0, 0
    for kind, file, content in steps():
        if file:
            (folder / file).write_text(content)
        if kind != "console":
            continue
        for part in re.split(r"^\$ ", content, flags=re.M)[1:]:
            command, *lines = part.splitlines()
            if command == "echo $?":
                assert [str(code)] == lines
                continue
            ran = shell(folder, command)
            code = ran.returncode
            n_commands += 1
            said = ran.stdout.splitlines()
            for line in lines:
                assert any(one.startswith(line) for one in said), f"{command}\n{line}\n{ran}"
            assert "Traceback" not in ran.stderr
    assert n_commands == 7
    return folder


def test_the_tutorial_comes_out_as_it_says(project: Path):
    assert (project / "audit" / "report.html").exists()
    assert 'metric = "ndcg@10"' in (project / "fairrec.toml").read_text()


def test_a_recommender_that_is_worse_fails_the_test_with_the_table_of_the_gate(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(project)
    typed("python recommend.py")
    ran = shell(project, "pytest -q test_fairness.py")
    assert ran.returncode == 1
    assert "FAIL  ndcg@10: no group is worse by more than 0.05" in ran.stdout


@pytest.mark.parametrize(("options", "code"), [("--by-tenure", 0), ("", 1)])
def test_every_step_of_the_workflow_runs(
    project: Path, monkeypatch: pytest.MonkeyPatch, options, code
):
    monkeypatch.chdir(project)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "steps.md")
    steps_ = yaml.safe_load((DOCS / "examples" / "fairness.yml").read_text())["jobs"]["gate"][
        "steps"
    ]
    commands = [step["run"] for step in steps_ if "run" in step]
    assert commands[0] == "pip install fairrec"
    (project / "steps.md").unlink(missing_ok=True)
    codes = []
    for command in commands[1:]:
        ran = typed(command.replace("--by-tenure", options))
        codes.append(ran.code)
    assert codes == [0, code]
    assert ("::error title=FairRec failed::" in ran.stdout) == (code == 1)
    assert "### FairRec: " in (project / "steps.md").read_text()
    assert "<testsuite " in (project / "fairness.xml").read_text()
