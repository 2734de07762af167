"""Outputs are wholly old or wholly new, and errors of the disk are told in a line."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.command_line import (
    AUDIT,
    files_in,
    plain_environment,
    run_here,
    run_process,
    write_tables,
)

pytestmark = pytest.mark.slow

COMMAND = (sys.executable, "-m", "fairrec")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    write_tables(tmp_path)
    return tmp_path


def ended(
    *words: str, folder: Path, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    # Python would keep bytecode that a limit has cut off, and no process after it could be started
    environment = plain_environment({"PYTHONDONTWRITEBYTECODE": "1"})
    return subprocess.run(
        words,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        preexec_fn=before,
    )


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ((*AUDIT, "--by", "gender", "--out", "out"), 2000),
        (("count", *AUDIT[1:4], "--by", "gender", "--out", "out"), 100),
        (("init", "audited", "--out", "out"), 10),
    ],
)
def test_a_full_disk_is_one_message_and_leaves_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, words, most: int
):
    if words[0] == "init":
        monkeypatch.chdir(here)
        assert run_here(*AUDIT, "--by", "gender", "--out", "audited", "--no-report").code == 0
    before = files_in(here)
    limit = (most, resource.RLIM_INFINITY)
    command = (*COMMAND, *words, *(("--quiet",) if words[0] != "init" else ()))
    ran = ended(
        *command, folder=here, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    )
    assert ran.returncode == 2
    # kernels that are compiled for the first time cannot be kept either
    said = [line for line in ran.stderr.splitlines() if not line.startswith("Note: compiled")]
    assert len(said) == 1 and "Error: out: cannot be written" in said[0]
    assert files_in(here) == before


def test_a_result_has_the_same_bytes_for_the_same_command(here: Path, tmp_path_factory):
    there = tmp_path_factory.mktemp("there")
    for file in here.iterdir():
        shutil.copy(file, there)
    written = []
    for folder, seed, threads in ((here, "0", "1"), (there, "4711", "3")):
        words = (*AUDIT, "--by", "gender,member", "--history", "history.parquet", "--out", "out")
        environment = {"PYTHONHASHSEED": seed, "POLARS_MAX_THREADS": threads}
        assert run_process(*words, folder=folder, environment=environment).code == 0
        written.append(files_in(folder / "out"))
    one, other = written
    differing = {name for name in one if one[name] != other[name]}
    # these have date, time and paths
    assert differing <= {"run.json", "report.html"}
    assert one.keys() == other.keys()
    assert str(here) not in json.dumps(json.loads(one["result.json"] or b""))


SIGNALLED = """
import os, signal, sys
from fairrec.report import audit_result
number, put_run = int(sys.argv.pop()), audit_result.put_run
def signalled(*given):
    put_run(*given)
    os.kill(os.getpid(), number)
    signal.pause()
audit_result.put_run = signalled
from fairrec.commands import main
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_signal_while_files_are_written_leaves_the_old_result(here: Path, number: int, code: int):
    words = (*AUDIT, "--by", "gender", "--no-report", "--quiet", "--out", "out")
    assert run_process(*words, folder=here).code == 0
    before = files_in(here / "out")
    another = (*words, "--seed", "5")
    ran = ended(sys.executable, "-c", SIGNALLED, *another, str(int(number)), folder=here)
    assert ran.returncode == code, ran.stderr
    left = [path.name for path in (here / "out").iterdir() if path.name not in before]
    # a folder and its lock, which the next command removes
    assert len(left) == 2 * (number == signal.SIGKILL)
    assert {name: (here / "out" / name).read_bytes() for name in before} == before
    assert run_process(*another, folder=here).code == 0
    after = files_in(here / "out")
    assert after.keys() == before.keys() and after["result.json"] != before["result.json"]


@pytest.mark.parametrize("stderr", ["2>/dev/full", "2>&-"])
def test_a_result_is_written_where_standard_error_is_not(here: Path, stderr: str):
    words = (*COMMAND, *AUDIT, "--by", "gender", "--out", "out", "--no-report")
    ran = ended("sh", "-c", f'"$@" {stderr}', "sh", *words, folder=here)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (here / "out" / "result.json").exists()


def test_closed_standard_output_is_one_message(here: Path):
    ran = ended("sh", "-c", '"$@" >&-', "sh", *COMMAND, "gate", "audited", folder=here)
    assert ran.returncode == 2
    assert ran.stderr.startswith("OutputError: Standard output is closed.")
    assert len(ran.stderr.splitlines()) == 1
