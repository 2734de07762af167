"""Folders, whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fairrec.core import folders
from fairrec.core.errors import OutputError
from fairrec.core.folders import settle, whole_folder

OWNED = ("groups", "page", "result")


def write(folder: Path, text: str, names: tuple[str, ...] = OWNED) -> None:
    with whole_folder(folder, OWNED) as part:
        for name in names:
            (part / name).write_text(text)


def content(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): file.read_text()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def cannot(*_: object) -> None:
    raise OSError("not here")


def exchange_in_two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_exchange_at_once", cannot)


def keep_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_exchange", cannot)


def be_a_mount_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_mount", lambda path: True)


WAYS = pytest.mark.parametrize(
    "way", [lambda patch: None, exchange_in_two_steps, keep_the_folder, be_a_mount_point]
)


@WAYS
def test_the_new_folder_takes_the_place_of_the_old_one(tmp_path: Path, way, monkeypatch):
    way(monkeypatch)
    out = tmp_path / "deep" / "out"
    write(out, "old")
    (out / "notes").write_text("mine")
    (out / "link").symlink_to("nowhere")
    out.chmod(0o750)
    write(out, "new", ("groups", "result"))
    # the page of an older result would show other numbers
    assert content(out) == {"groups": "new", "notes": "mine", "result": "new"}
    assert (out / "link").is_symlink()
    assert out.stat().st_mode & 0o777 == 0o750
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


@WAYS
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_folder_as_it_was(tmp_path: Path, way, error, monkeypatch):
    way(monkeypatch)
    out = tmp_path / "out"
    write(out, "old")
    (out / "notes").write_text("mine")
    before = content(tmp_path)
    with pytest.raises(error), whole_folder(out, OWNED) as part:
        (part / "groups").write_text("half")
        raise error("no more")
    assert content(tmp_path) == before


def test_subfolders_stay_where_they_are(tmp_path: Path):
    write(tmp_path / "out", "old")
    (tmp_path / "out" / "more").mkdir()
    (tmp_path / "out" / "more" / "notes").write_text("mine")
    inode = (tmp_path / "out").stat().st_ino
    write(tmp_path / "out", "new")
    assert (tmp_path / "out").stat().st_ino == inode
    assert content(tmp_path / "out") == {**dict.fromkeys(OWNED, "new"), "more/notes": "mine"}


def test_the_folder_we_are_in_stays(tmp_path: Path, monkeypatch):
    write(tmp_path / "out", "old")
    monkeypatch.chdir(tmp_path / "out")
    write(Path(), "new")
    assert content(Path.cwd()) == dict.fromkeys(OWNED, "new")


def test_a_linked_folder_stays_linked(tmp_path: Path):
    write(tmp_path / "there", "old")
    (tmp_path / "out").symlink_to(tmp_path / "there")
    write(tmp_path / "out", "new")
    assert (tmp_path / "out").is_symlink()
    assert content(tmp_path / "there") == dict.fromkeys(OWNED, "new")


def test_a_long_name_is_no_obstacle(tmp_path: Path):
    for text in ("old", "new"):
        write(tmp_path / ("x" * 255), text)
        assert content(tmp_path / ("x" * 255)) == dict.fromkeys(OWNED, text)


@WAYS
def test_a_name_that_is_a_folder_is_refused_before_anything_is_changed(
    tmp_path: Path, way, monkeypatch
):
    way(monkeypatch)
    out = tmp_path / "out"
    (out / "page").mkdir(parents=True)
    (out / "groups").write_text("old")
    with pytest.raises(OutputError, match=r"out: cannot be written \(page is a folder there\)"):
        write(out, "new", ("groups", "result"))
    assert content(tmp_path) == {"out/groups": "old"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_protected_folder_is_not_exchanged(tmp_path: Path):
    write(tmp_path / "out", "old")
    (tmp_path / "out").chmod(0o500)
    with pytest.raises(OutputError, match="no permission"):
        write(tmp_path / "out", "new")
    assert content(tmp_path / "out") == dict.fromkeys(OWNED, "old")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_is_written_where_its_parent_is_protected(tmp_path: Path):
    write(tmp_path / "home" / "out", "old")
    (tmp_path / "home").chmod(0o500)
    write(tmp_path / "home" / "out", "new")
    (tmp_path / "home").chmod(0o700)
    assert content(tmp_path / "home" / "out") == dict.fromkeys(OWNED, "new")


def test_a_full_disk_is_an_error_in_words(tmp_path: Path):
    write(tmp_path / "out", "old")
    with (
        pytest.raises(OutputError, match=r"out: cannot be written \(No space left.*Choose another"),
        whole_folder(tmp_path / "out", OWNED),
        Path("/dev/full").open("w") as full,
    ):
        full.write("x")
    assert content(tmp_path) == {f"out/{name}": "old" for name in OWNED}


def test_a_file_that_comes_meanwhile_stays(tmp_path: Path, monkeypatch):
    out = tmp_path / "out"
    write(out, "old")
    exchange = folders._exchange

    def late(part: Path, folder: Path) -> Path:
        (folder / "late").mkdir()
        (folder / "late" / "notes").write_text("mine")
        return exchange(part, folder)

    monkeypatch.setattr(folders, "_exchange", late)
    write(out, "new")
    assert content(out) == {**dict.fromkeys(OWNED, "new"), "late/notes": "mine"}


KILLED = """
import os, signal, sys
from pathlib import Path
from fairrec.core import folders

def at_once(part, folder):
    raise OSError("not here")

calls = 0
def killed(self, target):
    global calls
    calls += 1
    if calls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    os.rename(self, target)
    return Path(target)

folders._exchange_at_once = at_once
Path.rename = killed
with folders.whole_folder(Path(sys.argv[1]), ("groups", "page", "result")) as part:
    for name in ("groups", "page", "result"):
        (part / name).write_text("new")
"""


@pytest.mark.parametrize(("step", "text"), [(1, "old"), (2, "new")])
def test_the_next_command_finishes_an_exchange_that_was_killed(
    tmp_path: Path, step: int, text: str
):
    out = tmp_path / "out"
    write(out, "old")
    (out / "notes").write_text("mine")
    ran = subprocess.run([sys.executable, "-c", KILLED, str(out), str(step)], check=False)
    assert ran.returncode == -signal.SIGKILL
    settle(out)
    assert content(out) == {**dict.fromkeys(OWNED, text), "notes": "mine"}
    write(out, "newer")
    assert content(tmp_path) == {
        **{f"out/{name}": "newer" for name in OWNED},
        "out/notes": "mine",
    }


def test_the_old_folder_gets_its_name_back_where_there_is_no_new_one(tmp_path: Path):
    write(tmp_path / ".out.0123abcd.old", "old")
    settle(tmp_path / "out")
    assert content(tmp_path / "out") == dict.fromkeys(OWNED, "old")


def test_what_is_interrupted_file_by_file_is_no_result(tmp_path: Path, monkeypatch):
    out = tmp_path / "out"
    write(out, "old")
    (out / "more").mkdir()
    replace = Path.replace

    def fail(self: Path, target: Path) -> Path:
        if self.name == "page":
            raise OSError("no more")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OutputError, match="no more"):
        write(out, "new")
    assert content(out) == {"groups": "new", "page": "old"}
