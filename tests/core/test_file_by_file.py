"""Files that are replaced one by one: an error leaves the old ones, a kill either all or none."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fairrec.core.errors import InputError, OutputError
from fairrec.core.folders import settle, whole_folder
from tests.core.test_folders import content

OLD = {"groups": "old", "result": "old", "side/page": "old", "third/page": "old"}
NEW = {"changes": "new", "groups": "new", "other/page": "new", "result": "new", "side/page": "new"}
MINE = {"more/notes": "mine", "side/notes": "mine"}
OWNED = ("changes", "groups", "other/page", "side/page", "third/page", "result")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An old result in a folder that has to stay."""
    out = tmp_path / "out"
    write(out, OLD)
    (out / "more").mkdir()
    for name in MINE:
        (out / name).write_text("mine")
    return out


def write(out: Path, files: dict[str, str]) -> None:
    with whole_folder(out, OWNED) as part:
        for name, text in files.items():
            (part / name).parent.mkdir(exist_ok=True)
            (part / name).write_text(text)


WRITE = """
import json, os, signal, sys
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
with whole_folder(Path(sys.argv[1]), json.loads(sys.argv[4])) as part:
    for name, text in json.loads(sys.argv[5]).items():
        (part / name).parent.mkdir(exist_ok=True)
        (part / name).write_text(text)
"""
ASIDE = len(OWNED) + 1
"""Steps until the old files are gone: each name is cleared."""
N_STEPS = ASIDE + len(NEW) + 1
"""The new ones come, the old are scratch."""


def stopped(out: Path, step: int, how: str) -> subprocess.CompletedProcess[str]:
    files = (json.dumps(OWNED), json.dumps(NEW))
    command = [sys.executable, "-c", WRITE, str(out), str(step), how, *files]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("step", range(1, N_STEPS + 1))
def test_an_error_at_any_step_leaves_the_old_files(out: Path, step: int):
    assert "OutputError: " in stopped(out, step, "fail").stderr
    assert content(out.parent) == {f"out/{name}": text for name, text in (OLD | MINE).items()}
    assert folders(out) == {"more", "side", "third"}


@pytest.mark.parametrize("step", range(1, N_STEPS + 1))
def test_after_a_kill_at_any_step_there_are_all_old_files_or_all_new_ones(out: Path, step: int):
    assert stopped(out, step, "kill").returncode == -signal.SIGKILL
    settle(out)
    assert visible(out) == (OLD if step <= ASIDE else NEW) | MINE
    write(out, NEW)
    assert not [*out.rglob(".*")]
    assert folders(out) == {"more", "side", "other"}


def test_who_reads_a_folder_below_finds_it_whole(out: Path):
    assert stopped(out, N_STEPS - 1, "kill").returncode == -signal.SIGKILL
    settle(out / "side")
    assert visible(out) == NEW | MINE


def test_all_steps_are_known(out: Path):
    assert stopped(out, N_STEPS + 1, "kill").returncode == 0
    assert content(out) == NEW | MINE


def test_old_files_that_cannot_be_removed_do_not_come_back(out: Path, monkeypatch):
    monkeypatch.setattr("fairrec.core.scratch.remove", lambda path: None)
    write(out, NEW)
    monkeypatch.undo()
    settle(out)
    assert visible(out) == NEW | MINE
    write(out, OLD)
    assert content(out) == OLD | MINE


def test_old_files_whose_new_ones_are_gone_come_back(out: Path):
    aside = out / ".fairrec.0123abcd.gone"
    aside.mkdir()
    for name in OLD:
        (aside / name).parent.mkdir(exist_ok=True)
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
        write(out, NEW)


def visible(out: Path) -> dict[str, str]:
    """The files of a folder without those that nobody but the next writer looks at."""
    return {name: text for name, text in content(out).items() if not name.startswith(".")}


def folders(out: Path) -> set[str]:
    return {path.name for path in out.iterdir() if path.is_dir()}
