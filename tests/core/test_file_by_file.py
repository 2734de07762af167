"""Files that are replaced one by one: an error leaves the old ones, a kill either all or none."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fairrec.core.errors import InputError, OutputError
from fairrec.core.folders import settle
from tests.core.test_folders import content, write

OLD = {"groups": "old", "page": "old", "result": "old"}
NEW = {"changes": "new", "groups": "new", "result": "new"}
MINE = {"more/notes": "mine"}
OWNED = ("changes", "groups", "page", "result")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An old result in a folder that has to stay."""
    out = tmp_path / "out"
    write(out, "old")
    (out / "more").mkdir()
    (out / "more" / "notes").write_text("mine")
    return out


WRITE = """
import os, signal, sys
from pathlib import Path

from fairrec.core.folders import whole_folder

left = int(sys.argv[2])
rename = Path.rename

def counted(self, target):
    global left
    left -= 1
    if left == 0 and sys.argv[3] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if left == 0:
        raise OSError("no more")
    return rename(self, target)

Path.rename = counted
with whole_folder(Path(sys.argv[1]), ("changes", "groups", "page", "result")) as part:
    for name in ("changes", "groups", "result"):
        (part / name).write_text("new")
"""
N_STEPS = 9
"""Four names are cleared, the old files are gone, three new ones come, the old are scratch."""


def stopped(out: Path, step: int, how: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WRITE, str(out), str(step), how]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("step", range(1, N_STEPS + 1))
def test_an_error_at_any_step_leaves_the_old_files(out: Path, step: int):
    assert "OutputError: " in stopped(out, step, "fail").stderr
    assert content(out.parent) == {f"out/{name}": text for name, text in (OLD | MINE).items()}


@pytest.mark.parametrize("step", range(1, N_STEPS + 1))
def test_after_a_kill_at_any_step_there_are_all_old_files_or_all_new_ones(out: Path, step: int):
    assert stopped(out, step, "kill").returncode == -signal.SIGKILL
    settle(out)
    # the old ones are aside after five
    assert visible(out) == (OLD if step <= 5 else NEW) | MINE
    write(out, "newer")
    assert not [*out.rglob(".*")]


def test_all_steps_are_known(out: Path):
    assert stopped(out, N_STEPS + 1, "kill").returncode == 0
    assert content(out) == NEW | MINE


def test_old_files_that_cannot_be_removed_do_not_come_back(out: Path, monkeypatch):
    monkeypatch.setattr("fairrec.core.scratch.remove", lambda path: None)
    write(out, "new", ("groups", "page", "result"))
    monkeypatch.undo()
    settle(out)
    assert visible(out) == dict.fromkeys(OLD, "new") | MINE
    write(out, "newer")
    assert content(out) == dict.fromkeys(OLD, "newer") | MINE


def test_old_files_whose_new_ones_are_gone_come_back(out: Path):
    aside = out / ".fairrec.0123abcd.gone"
    aside.mkdir()
    for name in OLD:
        (out / name).rename(aside / name)
    settle(out)
    assert content(out) == OLD | MINE


def test_what_cannot_be_put_right_is_told(out: Path, monkeypatch):
    (out / ".fairrec.0123abcd.going").mkdir()
    (out / ".fairrec.0123abcd.going" / "groups").write_text("old")

    def refused(self: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(InputError, match=r"cannot be put right .*Give that command again"):
        settle(out)
    with pytest.raises((InputError, OutputError)):
        write(out, "new")


def visible(out: Path) -> dict[str, str]:
    """The files of a folder without those that nobody but the next writer looks at."""
    return {name: text for name, text in content(out).items() if not name.startswith(".")}
