"""Files and folders, whole or not at all, and text that a spreadsheet would run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from fairrec.core.atomic_io import (
    ROWS_TOGETHER,
    atomic_file,
    atomic_folder,
    errors_of_scratch,
    is_interrupted,
    put_table,
    refuse_foreign,
    without_formulas,
    write_table,
    write_text,
)
from fairrec.core.errors import OutputError

TABLE = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})


def test_a_file_appears_when_all_is_written(tmp_path: Path):
    file = tmp_path / "page.html"
    with atomic_file(file) as part:
        part.write_text("new")
        assert not file.exists()
    assert file.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path: Path):
    file = tmp_path / "page.html"
    file.write_text("old")
    with pytest.raises(ValueError, match="no page"), atomic_file(file) as part:
        part.write_text("half")
        raise ValueError("no page")
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_folder_under_a_name_of_ours_is_refused_before_anything_is_replaced(tmp_path: Path):
    (tmp_path / "b").mkdir()
    (tmp_path / "a").write_text("old")
    with (
        pytest.raises(OutputError, match="b is a folder there"),
        atomic_folder(tmp_path, ("b", "a")) as part,
    ):
        (part / "a").write_text("new")
    assert (tmp_path / "a").read_text() == "old"


def test_what_a_killed_writer_of_a_file_left_goes_with_the_next_one(tmp_path: Path):
    kill = (
        "import os, sys; from pathlib import Path; from fairrec.core.atomic_io import atomic_file\n"
        "with atomic_file(Path(sys.argv[1])) as part:\n"
        "    part.write_text('half'); os.kill(os.getpid(), 9)"
    )
    file = tmp_path / "page.html"
    subprocess.run([sys.executable, "-c", kill, file], check=False)
    assert len([*tmp_path.iterdir()]) == 2 and not file.exists()
    write_text(file, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_device_is_written_to():
    write_text(Path(os.devnull), "x")
    with pytest.raises(OutputError, match=r"/dev/full: cannot be written \(No space left"):
        write_text(Path("/dev/full"), "x")


@pytest.mark.parametrize("name", ["out", "no/such/folder/page.html"])
def test_a_place_that_cannot_be_written_is_an_error_in_words(tmp_path: Path, name: str):
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputError, match=f"{name}: cannot be written.*Choose another place"):
        write_text(tmp_path / name, "x")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("ending", ["parquet", "pq", "csv", "CSV"])
def test_a_table_is_written_as_its_ending_says(tmp_path: Path, ending: str):
    file = tmp_path / "new" / f"table.{ending}"
    write_table(TABLE, file)
    read = pl.read_csv if ending.lower() == "csv" else pl.read_parquet
    assert read(file).equals(TABLE)


def test_a_table_has_the_same_bytes_however_it_was_put_together(tmp_path: Path):
    whole = pl.DataFrame({"a": range(ROWS_TOGETHER * 2)})
    pieces = pl.concat([whole.head(9), whole.slice(9)], rechunk=False)
    assert pieces.n_chunks() == 2
    for table, name in ((whole, "whole"), (pieces, "pieces")):
        put_table(table, tmp_path / name, compression_level=1)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "pieces").read_bytes()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_that_others_may_not_read_stays_so(tmp_path: Path, mode: int):
    file = tmp_path / "per_user.csv"
    file.write_text("old")
    file.chmod(mode)
    with atomic_file(file) as part:
        part.write_text("new")
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == mode


def test_a_full_disk_for_scratch_files_names_the_option(tmp_path: Path):
    for error in (OSError(28, "No space left on device"), pl.exceptions.ComputeError("disk full")):
        with (
            pytest.raises(
                OutputError, match=r"cannot be written \(.*scratch files: scratch=\.\.\."
            ),
            errors_of_scratch(tmp_path),
        ):
            raise error
    # what is in words already stays as it is
    with pytest.raises(OutputError, match=r"^as it is$"), errors_of_scratch(tmp_path):
        raise OutputError("as it is")


def test_a_table_that_is_too_large_to_be_read_at_once_is_written_in_its_order(tmp_path: Path):
    put_table(TABLE.lazy(), tmp_path / "table")
    assert pl.read_parquet(tmp_path / "table").equals(TABLE)
    with pytest.raises(OSError, match="No space left"):
        put_table(pl.LazyFrame({"a": range(100_000)}), Path("/dev/full"))


OWNED = ("groups", "page", "result")


def write_result(folder: Path, text: str, names: tuple[str, ...] = OWNED) -> None:
    with atomic_folder(folder, OWNED) as part:
        for name in names:
            (part / name).write_text(text)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_files_of_a_folder_appear_when_all_are_written(tmp_path: Path):
    with atomic_folder(tmp_path / "new" / "out", OWNED) as part:
        (part / "result").write_text("new")
        assert not (tmp_path / "new" / "out" / "result").exists()
    assert contents(tmp_path / "new" / "out") == {"result": "new"}
    assert [*(tmp_path / "new" / "out").iterdir()] == [tmp_path / "new" / "out" / "result"]


def test_own_files_are_replaced_as_a_whole_and_those_of_others_stay(tmp_path: Path):
    write_result(tmp_path, "old")
    (tmp_path / "note").write_text("mine")
    (tmp_path / "plots").mkdir()
    (tmp_path / "groups").chmod(0o600)
    write_result(tmp_path, "new", ("groups", "result"))
    assert contents(tmp_path) == {"groups": "new", "result": "new", "note": "mine"}
    assert (tmp_path / "plots").is_dir()
    assert (tmp_path / "groups").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_whatever_ends_the_writing_leaves_the_old_files(tmp_path: Path, error: type[BaseException]):
    write_result(tmp_path / "out", "old")
    for out in ("out", "none"):
        with pytest.raises(error), atomic_folder(tmp_path / out, OWNED) as part:
            (part / "groups").write_text("new")
            raise error
    assert contents(tmp_path / "out") == dict.fromkeys(OWNED, "old")
    assert [path.name for path in tmp_path.rglob("*") if path.name not in OWNED] == ["out"]


KILLED_AT_EACH_STEP = """
import json, os, signal, sys
from pathlib import Path
import filelock
from fairrec.core.atomic_io import atomic_folder, is_interrupted
OWNED = ("groups", "page", "result")
EVENTS = ("open", "os.mkdir", "os.chmod", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree")
out, killed, left = Path(sys.argv[1]), True, None
def write(text):
    with atomic_folder(out, OWNED) as part:
        for name in OWNED:
            (part / name).write_text(text)
while killed:
    left = 0 if left is None else left + 1
    write("old")
    if not (child := os.fork()):
        seen = 0
        def hook(event, args):
            global seen
            if event in EVENTS and str(out) in repr(args[0]):
                seen += 1
                if seen > left:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(hook)
        write("new")
        os._exit(0)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    state = {name: (out / name).read_text() for name in OWNED if (out / name).exists()}
    was_interrupted = is_interrupted(out)
    write("next")
    after = sorted(path.name for path in out.iterdir())
    print(json.dumps([killed, state, was_interrupted, after]))
"""


@pytest.mark.slow
def test_a_kill_at_any_step_leaves_the_old_result_the_new_one_or_none(tmp_path: Path):
    command = [sys.executable, "-c", KILLED_AT_EACH_STEP, str(tmp_path / "out")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ends = [json.loads(line) for line in told.splitlines()]
    assert [is_killed for is_killed, *_ in ends] == [True] * (len(ends) - 1) + [False]
    states = []
    for _, state, was_interrupted, after in ends:
        if "result" in state:
            assert state in (dict.fromkeys(OWNED, "old"), dict.fromkeys(OWNED, "new"))
        else:
            assert was_interrupted
        states.append(state.get("result", "none"))
        # the next command leaves nothing of the killed one
        assert after == [*OWNED]
    assert [*dict.fromkeys(states)] == ["old", "none", "new"]


WRITER = """
import sys
from pathlib import Path
from fairrec.core.atomic_io import atomic_folder
for n in range(40):
    with atomic_folder(Path(sys.argv[1]), ("groups", "result")) as part:
        for name in ("groups", "result"):
            (part / name).write_text(f"{sys.argv[2]} {n}")
"""


@pytest.mark.slow
def test_of_two_writers_at_once_one_is_there_as_a_whole(tmp_path: Path):
    commands = [[sys.executable, "-c", WRITER, str(tmp_path / "out"), name] for name in "ab"]
    writers = [subprocess.Popen(command) for command in commands]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    found = contents(tmp_path / "out")
    assert [*found] == ["groups", "result"] or [*found] == ["result", "groups"]
    assert found["groups"] == found["result"]
    assert len([*(tmp_path / "out").iterdir()]) == 2


def test_files_of_a_command_that_was_stopped_are_no_foreign_ones(tmp_path: Path):
    (tmp_path / "users.parquet").write_text("ours")
    with pytest.raises(OutputError, match=r"users.parquet there is of no bundle of FairRec's"):
        refuse_foreign(tmp_path, ["items.parquet", "users.parquet"], "bundle")
    (tmp_path / ".writing").mkdir()
    assert is_interrupted(tmp_path)
    refuse_foreign(tmp_path, ["users.parquet"], "bundle")
    write_result(tmp_path, "new")
    assert {path.name for path in tmp_path.iterdir()} == {*OWNED, "users.parquet"}


RUN = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "+1 2",
    "-1e",
    "--1",
    "@",
    "=",
]
KEPT = ["-", "+", "-1", "+3.5", "-.5", "-1e-3", "a=b", "", "'=1", " =1", "1-2", "u@b", None]


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum([*RUN])])
def test_formulas_become_text(kind):
    cells = without_formulas(pl.DataFrame({"id": pl.Series(RUN, dtype=pl.String).cast(kind)}))
    assert cells["id"].to_list() == [f"'{text}" for text in RUN]


def test_numbers_and_other_texts_stay_as_they_are():
    table = pl.DataFrame({"id": KEPT, "score": [-1.5] * len(KEPT), "n": range(len(KEPT))})
    assert without_formulas(table).equals(table)
    assert without_formulas(pl.DataFrame()).equals(pl.DataFrame())


def test_csv_is_written_so_and_parquet_as_it_is(tmp_path: Path):
    table = pl.DataFrame({"user_id": ["=1+1", "u2"], "score": [-0.5, 1.0]})
    write_table(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "user_id,score\n'=1+1,-0.5\nu2,1.0\n"
    write_table(table, tmp_path / "t.parquet")
    assert pl.read_parquet(tmp_path / "t.parquet").equals(table)
