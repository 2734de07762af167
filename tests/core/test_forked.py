"""A process forked after an audit has none of Polars' threads: an error instead of a hang."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import multiprocessing, os, sys, warnings
import fairrec
import polars as pl
from fairrec.core import threads

warnings.simplefilter("ignore")  # of Polars and Python, which warn of any fork
threads.WAIT = 2.0

def audit(number=0):
    values = pl.DataFrame({"user": range(40), "v": [0.0, 1.0] * 20})
    users = pl.DataFrame({"user": range(40), "g": ["a"] * 20 + ["b"] * 20})
    return fairrec.audit(values=values, users=users, by=["g"]).summary.seed + 1

if __name__ == "__main__":
    how = sys.argv[1]
    print("parent", audit() if how != "first" else 0)
    try:
        if how == "pool":
            with multiprocessing.get_context("fork").Pool(1) as pool:
                pool.map(audit, [0])
        else:
            pid = os.fork()
            if pid:
                sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            print("child", audit(), flush=True)
    except fairrec.FairRecError as error:
        print(error, flush=True)
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "fork" not in multiprocessing.get_all_start_methods(), reason="nothing forks here"
    ),
]


@pytest.mark.parametrize("how", ["fork", "pool"])
def test_a_child_forked_after_an_audit_is_told_to_spawn(how: str, tmp_path: Path) -> None:
    said = _run(how, tmp_path)

    assert "get_context('spawn')" in said
    assert "child" not in said


def test_a_child_forked_before_any_audit_can_audit(tmp_path: Path) -> None:
    assert "child 1" in _run("first", tmp_path)


def _run(how: str, folder: Path) -> str:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), how],
        capture_output=True,
        text=True,
        timeout=60,
        env=dict(os.environ),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
