"""Files and folders on their way."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from fairrec.core import scratch as scratch_module
from fairrec.core.errors import OutputError
from fairrec.core.scratch import alone, held, scratch, sole, sweep, synced

OPENED = Path("/proc/self/fd")


@pytest.mark.parametrize("is_folder", [False, True])
def test_what_is_not_moved_is_gone_in_the_end(tmp_path: Path, is_folder: bool):
    with pytest.raises(KeyboardInterrupt), scratch(tmp_path, "out", is_folder) as part:
        assert part.exists()
        assert part.parent == tmp_path
        raise KeyboardInterrupt
    assert [*tmp_path.iterdir()] == []


def test_what_a_killed_command_left_is_swept_up_and_nothing_else(tmp_path: Path):
    stays = [".out.writing", ".out.notes.writing", ".other.0123abcd.writing", "out"]
    for name in stays:
        (tmp_path / name).write_text("x")
    (tmp_path / ".out.0123abcd.writing").write_text("half")
    (tmp_path / ".out.4567cdef.writing").mkdir()
    (tmp_path / ".out.4567cdef.writing" / "half").write_text("half")
    sweep(tmp_path, "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(stays)


def test_what_another_process_is_writing_stays(tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from fairrec.core.scratch import scratch\n"
        "with scratch(Path(sys.argv[1]), 'out', is_folder=True) as part:\n"
        "    print(part.name, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdin is not None and other.stdout is not None
        name = other.stdout.readline().strip()
        sweep(tmp_path, "out")
        assert (tmp_path / name).is_dir()
        other.kill()
        other.wait()
        sweep(tmp_path, "out")
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize("is_folder", [False, True])
def test_what_is_swept_up_before_it_is_held_is_made_again(
    tmp_path: Path, is_folder: bool, monkeypatch
):
    opened = os.open
    swept: list[Path] = []

    def late(path: Path, *rest: int, **more: int) -> int:
        if not swept:
            swept.append(Path(path))
            sweep(tmp_path, "out")
            assert not Path(path).exists()
        return opened(path, *rest, **more)

    monkeypatch.setattr(scratch_module, "sweep", lambda folder, name: None)
    monkeypatch.setattr(os, "open", late)
    with scratch(tmp_path, "out", is_folder) as part:
        monkeypatch.undo()
        assert part.exists()
        sweep(tmp_path, "out")
        assert part.exists()
    assert len(swept) == 1


def test_what_is_replaced_while_it_is_waited_for_is_not_ours(tmp_path: Path, monkeypatch):
    out, other = tmp_path / "out", tmp_path / "other"
    out.mkdir()
    other.mkdir()
    opened = os.open

    def late(path: Path, *rest: int) -> int:
        number = opened(path, *rest)
        monkeypatch.undo()
        out.rename(tmp_path / "old")
        other.rename(out)
        return number

    monkeypatch.setattr(os, "open", late)
    with held(out) as hold:
        assert hold == "theirs"


def test_one_is_alone_with_a_folder_that_is_not_there_yet(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(scratch_module, "PATIENCE", 0.05)
    process = rf" \(process {os.getpid()}\)" if Path("/proc/locks").exists() else ""
    with (
        alone(tmp_path / "out"),
        pytest.raises(OutputError, match=f"out: another command{process} is writing there"),
        alone(tmp_path / "out"),
    ):
        pass
    with alone(tmp_path / "out"):
        pass


def test_one_is_alone_with_a_folder_that_is_known_by_two_parents(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(scratch_module, "PATIENCE", 0.05)
    (tmp_path / "out").mkdir()
    (tmp_path / "host").mkdir()
    # as a volume that is mounted in two places has
    (tmp_path / "host" / "out").symlink_to(tmp_path / "out")
    with (
        alone(tmp_path / "out"),
        pytest.raises(OutputError, match=r"out: another command.* is writing there"),
        alone(tmp_path / "host" / "out"),
    ):
        pass


def test_a_file_that_is_taken_away_before_it_is_held_makes_nobody_the_only_one(
    tmp_path: Path, monkeypatch
):
    lock, opened = tmp_path / "lock", os.open
    taken: list[Path] = []

    def late(path: Path, *rest: int) -> int:
        if not taken and lock.exists():
            taken.append(Path(path))
            lock.unlink()
        return opened(path, *rest)

    monkeypatch.setattr(os, "open", late)
    with sole(lock, "is training"):
        assert taken == [lock] and lock.exists()
        with pytest.raises(OutputError, match="is training there"), sole(lock, "is training"):
            pass
    assert not lock.exists()


@pytest.mark.parametrize("is_next_there", [True, False])
def test_who_ends_leaves_the_file_of_the_next_one(tmp_path: Path, is_next_there: bool):
    lock = tmp_path / "lock"
    with sole(lock, "is training"):
        # as where the folder it lies in was exchanged
        lock.rename(tmp_path / "old")
        if is_next_there:
            lock.touch()
    assert lock.exists() == is_next_there


def test_an_error_of_the_disk_is_not_taken_for_a_system_that_syncs_no_folders(
    tmp_path: Path, monkeypatch
):
    (tmp_path / "file").touch()

    def failing(number: int) -> None:
        raise OSError(found, os.strerror(found))

    monkeypatch.setattr(os, "fsync", failing)
    for found, raises in ((errno.EINVAL, False), (errno.EIO, True), (errno.ENOSPC, True)):
        told = pytest.raises(OSError, match=re.escape(os.strerror(found)))
        with told:
            synced(tmp_path / "file")
        with told if raises else nullcontext():
            synced(tmp_path)


def test_where_nothing_can_be_held_nobody_waits(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(scratch_module, "fcntl", None)
    with held(tmp_path) as hold, alone(tmp_path), sole(tmp_path / "lock", "is training"):
        assert hold == "unknown"
        with alone(tmp_path), sole(tmp_path / "lock", "is training"):
            pass
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("name", "error", "expected"),
    [
        ("open", PermissionError(errno.EACCES, "closed"), "unknown"),
        ("fstat", FileNotFoundError(errno.ENOENT, "gone"), "gone"),
        ("fstat", OSError(errno.ENOLCK, "no locks"), "unknown"),
    ],
)
def test_what_cannot_be_held_is_told_apart(tmp_path: Path, monkeypatch, name, error, expected):
    n_open = len([*OPENED.iterdir()]) if OPENED.is_dir() else None

    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, name, failing)
    with held(tmp_path) as hold:
        assert hold == expected
    monkeypatch.undo()
    # and nothing is left open
    if n_open is not None:
        assert len([*OPENED.iterdir()]) == n_open


def test_who_holds_a_folder_is_not_told_where_the_system_does_not(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(scratch_module, "PATIENCE", 0.0)
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: "1: FLOCK\n")
    with (
        alone(tmp_path / "out"),
        pytest.raises(OutputError, match="another command is writing there"),
        alone(tmp_path / "out"),
    ):
        pass


ALONE_INSIDE = """
import os, sys, time
from pathlib import Path
from fairrec.core.errors import OutputError
from fairrec.core.scratch import sole

folder, until, n = Path(sys.argv[1]), time.monotonic() + float(sys.argv[2]), 0
while time.monotonic() < until:
    try:
        with sole(folder / "lock", "is training"):
            os.close(os.open(folder / "inside", os.O_CREAT | os.O_EXCL))
            (folder / "inside").unlink()
            n += 1
    except OutputError:
        pass
print(n)
"""


def test_two_processes_are_never_both_the_only_one(tmp_path: Path):
    """Each makes a file that must not be there yet, thousands of times."""
    command = [sys.executable, "-c", ALONE_INSIDE, str(tmp_path), "2"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    ended = [(one.communicate()[0], one.returncode) for one in both]
    assert [code for _, code in ended] == [0, 0]
    assert all(int(said) > 100 for said, _ in ended)
    assert [*tmp_path.iterdir()] == []
