"""Outputs are wholly old or wholly new, and errors of the disk are told in a line."""

from __future__ import annotations

import json
import resource
import shlex
import shutil
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
from tests.torture.outputs import Parts, Versions, without_times

COMMAND = (sys.executable, "-m", "fairrec.cli")


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


@pytest.mark.parametrize("out", [">/dev/full", ">&-", "2>/dev/full >/dev/full"])
def test_standard_output_that_nobody_gets_is_one_message(here: Path, out: str):
    ran = ended("bash", "-c", f"{shlex.join((*COMMAND, 'list', 'metrics'))} {out}", folder=here)
    assert ran.returncode == 2, ran.stderr
    said = ran.stderr.splitlines()
    if "2>" not in out:
        assert len(said) == 1 and said[0].startswith("OutputError: Standard output ")


@pytest.mark.parametrize(
    "words",
    [
        *(("list", "schema"), ("--help",), ("--version",), ("audit", "--help")),
        *((*AUDIT, "--by", "gender"), ("audit", "none")),
    ],
)
def test_a_pipe_that_nobody_reads_any_more_ends_a_command_without_a_word(here: Path, words):
    # before it prints anything, its reader is gone
    command = f"{{ sleep 0.5; exec {shlex.join((*COMMAND, *words))}; }}"
    said = "2>&1" if words[-1] != "gender" else "2>said"
    line = f"{command} {said} | true; exit ${{PIPESTATUS[0]}}"
    ran = ended("bash", "-c", line, folder=here)
    # an error keeps its code, though nobody hears of it
    code = 2 if words[-1] == "none" else 141
    assert (ran.returncode, ran.stdout, ran.stderr) == (code, "", "")
    if said == "2>said":
        assert "Error" not in (here / "said").read_text()


def test_a_closed_standard_error_is_no_obstacle(here: Path):
    words = shlex.join((*COMMAND, *AUDIT, "--by", "gender", "--out", "out", "--no-report"))
    assert ended("sh", "-c", f"{words} 2>&-", folder=here).returncode == 0
    assert {*files_in(here / "out")} >= {"result.json", "groups.parquet"}
    words = words.replace("--by gender", "--by gendr")
    assert ended("sh", "-c", f"{words} 2>&-", folder=here).returncode == 2


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ((*AUDIT, "--by", "gender", "--out", "out"), 2000),
        (("count", *AUDIT[1:4], "--by", "gender", "--out", "out"), 100),
        (("demo", "--no-report", "--out", "out"), 1000),
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
    assert len(ran.stderr.splitlines()) == 1 and "Error: out: cannot be written" in ran.stderr
    assert files_in(here) == before


def test_a_link_under_a_name_that_scratch_once_had_is_not_followed(here: Path):
    (here / "mine.txt").write_text("mine")
    for name in (".o.parquet.writing", ".o.parquet.00000000.writing"):
        (here / name).symlink_to("mine.txt")
    words = ("count", *AUDIT[1:4], "--by", "gender", "--out", "o.parquet")
    assert run_process(*words, folder=here).code == 0
    assert (here / "mine.txt").read_text() == "mine"
    assert (here / "o.parquet").is_file() and not (here / "o.parquet").is_symlink()


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


@pytest.mark.skipif(
    shutil.which("cc") is None or not sys.platform.startswith("linux"),
    reason="failing calls are made by a library in C, for Linux",
)
def test_calls_that_fail_and_kills_leave_no_mixture(tmp_path: Path):
    """A part of `make torture`."""
    options = (
        "--races",
        "2",
        "--only",
        "compare",
        "--every",
        "6",
        "--signals",
        "4",
        "--no-arrays",
    )
    ran = ended(sys.executable, "-m", "tests.torture", *options, folder=Path.cwd())
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "\n0 failures" in ran.stdout
    assert "'killed'" in ran.stdout and "'signal': 4" in ran.stdout


def test_a_mixture_is_told_from_old_and_new():
    old = {"a": b"1", "b": b"1", "same": b"0"}
    new = {"a": b"2", "b": b"2", "same": b"0"}
    versions = Versions(Parts({"": old}), Parts({"": new}))
    assert versions.of(Parts({"": old})) == "old"
    assert versions.of(Parts({"": new})) == "new"
    for mixed in ({**old, "a": b"2"}, {**new, "a": b"1"}, {"a": b"2"}, {}, {**new, "c": b""}):
        assert versions.of(Parts({"": mixed})) == "mixed"
    assert versions.odd(Parts({"": {"a": b"1", "b": b"2", "c": b""}})) == ["a", "c", "same"]


def test_an_output_of_two_parts_may_be_between():
    versions = Versions(Parts(a={"x": b"1"}, b={"y": b"1"}), Parts(a={"x": b"2"}, b={"y": b"2"}))
    assert versions.of(Parts(a={"x": b"2"}, b={"y": b"1"})) == "between"
    assert versions.of(Parts(a={"x": b"2"}, b={"y": b"3"})) == "mixed"


@pytest.mark.parametrize(
    ("name", "one", "again", "other"),
    [
        (
            "run.json",
            b'{"made_at": "2026-01-02T03:04:05Z", "seconds": 0.7, "seconds_asked": 1e-05, "n": 1}',
            b'{"made_at": "2026-01-02T03:04:09Z", "seconds": 12.25, "seconds_asked": 0, "n": 1}',
            b'{"made_at": "2026-01-02T03:04:05Z", "seconds": 0.7, "seconds_asked": 1e-05, "n": 2}',
        ),
        (
            "convergence.csv",
            b"seed,accuracy,ms_per_ask,asks\n1,1.0,0.0114,6\n",
            b"seed,accuracy,ms_per_ask,asks\n1,1.0,0.2,6\n",
            b"seed,accuracy,ms_per_ask,asks\n2,1.0,0.0114,6\n",
        ),
        (
            "accuracy.csv",
            b"seed,accuracy\n1,1.0\n",
            b"seed,accuracy\n1,1.0\n",
            b"seed,accuracy\n1,2.0\n",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_only_times_are_left_out_of_what_is_compared(
    name: str, one: bytes, again: bytes, other: bytes
):
    kept = without_times(name, one)
    assert without_times(name, again) == kept != without_times(name, other)
    # one that was cut short is not whole
    assert without_times(name, one[:-3]) != kept
