"""Folders, whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fairrec.core import folders, scratch
from fairrec.core.errors import InputError, OutputError
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


@WAYS
def test_files_of_folders_below_are_replaced_with_the_others(tmp_path: Path, way, monkeypatch):
    way(monkeypatch)
    out = tmp_path / "out"
    owned = ("one/page", "one/result", "two/result", "result")

    def put(text: str, *names: str) -> None:
        with whole_folder(out, owned) as part:
            for name in names:
                (part / name).parent.mkdir(exist_ok=True)
                (part / name).write_text(text)

    put("old", "one/page", "one/result", "two/result", "result")
    (out / "one" / "notes").write_text("mine")
    (out / "one").chmod(0o750)
    (out / "one" / "result").chmod(0o600)
    put("new", "one/result", "result")
    assert content(out) == {"one/notes": "mine", "one/result": "new", "result": "new"}
    assert not (out / "two").exists()
    assert (out / "one").stat().st_mode & 0o777 == 0o750
    assert (out / "one" / "result").stat().st_mode & 0o777 == 0o600
    put("newer", "two/result", "result")
    assert content(out) == {"one/notes": "mine", "result": "newer", "two/result": "newer"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    (out / "one" / "notes").unlink()
    (out / "one").rmdir()
    (out / "one").write_text("mine")
    with pytest.raises(OutputError, match="one is a file there"):
        put("newest", "one/result", "result")
    assert content(out) == {"one": "mine", "result": "newer", "two/result": "newer"}


def test_what_a_killed_command_left_of_a_folder_below_is_brought_to_an_end(tmp_path: Path):
    out = tmp_path / "out"
    write(out / "one", "old")
    # it was killed between the two renames, and another one while it wrote
    (out / "one").rename(out / ".one.0123abcd.old")
    (out / ".one.4567abcd.writing").mkdir()
    with whole_folder(out, ("one/result", "result")) as part:
        (part / "one").mkdir()
        for name in ("one/result", "result"):
            (part / name).write_text("new")
    assert content(out) == {
        "one/groups": "old",
        "one/page": "old",
        "one/result": "new",
        "result": "new",
    }


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


def test_files_are_replaced_one_by_one_where_no_sibling_can_be_made(tmp_path: Path, monkeypatch):
    write(tmp_path / "out", "old")
    there = (tmp_path / "out").stat().st_ino
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path and may(path, mode))
    write(tmp_path / "out", "new")
    assert content(tmp_path / "out") == dict.fromkeys(OWNED, "new")
    assert (tmp_path / "out").stat().st_ino == there


def test_files_are_replaced_one_by_one_where_a_folder_is_of_another_owner(
    tmp_path: Path, monkeypatch
):
    write(tmp_path / "out", "old")
    there = (tmp_path / "out").stat().st_ino
    monkeypatch.setattr(folders, "_be_alike", cannot)
    write(tmp_path / "out", "new")
    assert content(tmp_path / "out") == dict.fromkeys(OWNED, "new")
    assert (tmp_path / "out").stat().st_ino == there
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_exchange_that_fails_halfway_gives_the_old_folder_its_name_back(
    tmp_path: Path, monkeypatch
):
    exchange_in_two_steps(monkeypatch)
    write(tmp_path / "out", "old")
    rename, moved = Path.rename, []

    def second_fails(path: Path, target: Path) -> Path:
        moved.append(path.name)
        if len(moved) == 2:
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", second_fails)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "out", "new")
    assert moved[0] == "out" and moved[1].endswith(".writing") and moved[2].endswith(".old")
    assert content(tmp_path) == {f"out/{name}": "old" for name in OWNED}


def test_a_system_that_exchanges_no_folders_says_so(tmp_path: Path):
    with pytest.raises(OSError, match="no exchange"):
        folders._exchange_at_once(tmp_path / "one", tmp_path / "other")


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


def hold_up(monkeypatch: pytest.MonkeyPatch, method: str, is_moment: Callable[[Path, Path], bool]):
    """Let the first one who comes to a moment wait there until another had time to write."""
    move = getattr(Path, method)
    reached = threading.Event()

    def slow(self: Path, target: Path) -> Path:
        is_first = not reached.is_set() and is_moment(self, target)
        moved = move(self, target)
        if is_first:
            reached.set()
            time.sleep(0.3)
        return moved

    monkeypatch.setattr(Path, method, slow)
    return reached


def write_at_once(out: Path, reached: threading.Event) -> None:
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(write, out, "first")
        assert reached.wait(10)
        threads.submit(write, out, "second").result()
        first.result()


@WAYS
def test_two_writers_at_once_leave_no_mixture(tmp_path: Path, way, monkeypatch):
    way(monkeypatch)
    out = tmp_path / "out"
    (out / "more").mkdir(parents=True)
    (out / "more" / "notes").write_text("mine")
    reached = hold_up(monkeypatch, "rename", lambda part, target: target == out / "groups")
    write_at_once(out, reached)
    assert content(out) == {**dict.fromkeys(OWNED, "second"), "more/notes": "mine"}


def test_nobody_takes_the_name_of_a_folder_that_is_on_its_way_out(tmp_path: Path, monkeypatch):
    exchange_in_two_steps(monkeypatch)
    out = tmp_path / "out"
    write(out, "old")
    (out / "notes").write_text("mine")
    reached = hold_up(monkeypatch, "rename", lambda old, target: old == out)
    write_at_once(out, reached)
    assert content(tmp_path) == {
        **{f"out/{name}": "second" for name in OWNED},
        "out/notes": "mine",
    }


def test_a_reader_waits_for_a_folder_that_is_on_its_way_out(tmp_path: Path, monkeypatch):
    exchange_in_two_steps(monkeypatch)
    out = tmp_path / "out"
    write(out, "old")
    reached = hold_up(monkeypatch, "rename", lambda old, target: old == out)
    with ThreadPoolExecutor(1) as threads:
        written = threads.submit(write, out, "new")
        assert reached.wait(10)
        settle(out)
        assert content(out) == dict.fromkeys(OWNED, "new")
        written.result()


def test_a_writer_who_does_not_end_is_an_error_before_any_work(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(scratch, "PATIENCE", 0.05)
    with (
        scratch.alone(tmp_path / "out"),
        pytest.raises(OutputError, match=r"out: another command.* is writing.*choose another"),
    ):
        write(tmp_path / "out", "new")


def kill_between_two_renames(out: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", KILLED, str(out), "2"], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert not out.exists()


@WAYS
@pytest.mark.parametrize("meanwhile", [{}, {"notes": "newer"}, {"other": "mine", "page": "x"}])
def test_no_file_is_lost_where_the_folder_was_made_again(
    tmp_path: Path, way, meanwhile: dict[str, str], monkeypatch
):
    out = tmp_path / "out"
    write(out, "old")
    (out / "notes").write_text("mine")
    kill_between_two_renames(out)
    out.mkdir()
    for name, text in meanwhile.items():
        (out / name).write_text(text)
    settle(out)
    way(monkeypatch)
    write(out, "new", ("groups", "result"))
    kept = {"notes": "mine"} | {k: v for k, v in meanwhile.items() if k not in OWNED}
    assert content(out) == {"groups": "new", "result": "new"} | kept
    # two files of one name: the older one waits where it was
    left = [path for path in tmp_path.iterdir() if path != out]
    assert [content(path) for path in left] == ([{"notes": "mine"}] if "notes" in meanwhile else [])


def test_a_file_that_is_replaced_meanwhile_is_the_newer_one(tmp_path: Path, monkeypatch):
    out = tmp_path / "out"
    write(out, "old")
    (out / "notes").write_text("mine")
    exchange = folders._exchange

    def late(part: Path, folder: Path) -> Path:
        (folder / "saved").write_text("newer")
        (folder / "saved").replace(folder / "notes")
        return exchange(part, folder)

    monkeypatch.setattr(folders, "_exchange", late)
    write(out, "new")
    assert content(out) == {**dict.fromkeys(OWNED, "new"), "notes": "newer"}


def test_a_reader_who_may_not_finish_an_exchange_is_told_what_to_do(tmp_path: Path, monkeypatch):
    write(tmp_path / ".out.0123abcd.old", "old")

    def protected(self: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", protected)
    with pytest.raises(InputError, match=r"out: .*Rename .*\.out\.0123abcd\.old to out"):
        settle(tmp_path / "out")


@WAYS
def test_files_have_the_group_of_a_shared_folder(tmp_path: Path, way, monkeypatch):
    way(monkeypatch)
    groups = {os.getegid(), *os.getgroups()} | ({12345} if os.geteuid() == 0 else set())
    out = tmp_path / "out"
    out.mkdir()
    os.chown(out, -1, max(groups))
    out.chmod(0o2770)
    write(out, "new")
    assert {file.stat().st_gid for file in out.iterdir()} == {max(groups)}
    assert out.stat().st_mode & 0o7777 == 0o2770


@WAYS
def test_files_that_others_may_not_read_stay_so(tmp_path: Path, way, monkeypatch):
    way(monkeypatch)
    out = tmp_path / "out"
    write(out, "old", ("groups", "result"))
    (out / "groups").chmod(0o600)
    with whole_folder(out, OWNED) as part:
        assert part.stat().st_mode & 0o077 == 0
        for name in OWNED:
            (part / name).write_text("new")
    (out / "any").write_text("x")
    usual = (out / "any").stat().st_mode
    assert [(out / name).stat().st_mode & 0o777 for name in OWNED] == [0o600, *[usual & 0o777] * 2]


@WAYS
def test_what_a_killed_command_left_is_swept_up_beside_and_inside(tmp_path: Path, way, monkeypatch):
    way(monkeypatch)
    out = tmp_path / "out"
    for left in (tmp_path / ".out.0123abcd.writing", out / ".fairrec.0123abcd.writing"):
        left.mkdir(parents=True)
        (left / "groups").write_text("half")
    write(out, "new")
    assert content(tmp_path) == {f"out/{name}": "new" for name in OWNED}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert sorted(path.name for path in out.iterdir()) == sorted(OWNED)
