"""A few files of every kind, damaged and tampered with; `tests.torture.inputs` tries many more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import polars as pl
import pytest

from fairrec.core.errors import InputError
from tests.torture.inputs import ended, tampered
from tests.torture.mutations import BYTES, other_footer, other_json, other_words
from tests.torture.read_files import ReadFile, read_files

pytestmark = pytest.mark.slow

TO_TRAIN = ("run", "model", "candidates of", "bundle")
"""What takes a model or a bundle, and so a second or more."""
QUICK = [
    one
    for one in read_files()
    if not any(word in one.kind for word in TO_TRAIN)
    and not one.kind.startswith(("history", "items"))
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("one", QUICK, ids=lambda one: one.kind)
def test_tampered_files_are_read_or_refused(one: ReadFile, tmp_path: Path):
    start, here = tmp_path / "start", tmp_path / "here"
    for folder in (start, here):
        folder.mkdir()
    one.make(start)
    assert ended(one, start) == ("read", "")
    for number in range(12 if one.is_table else 6):
        end, why = ended(one, tampered(one, f"suite {number}", start, here))
        assert end in ("read", "refused"), f"{number}: {why}"


def of_reader(read: object) -> ReadFile:
    return ReadFile("any", lambda folder: None, "any", read, ())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (InputError("users.csv: is empty."), "refused"),
        (InputError(" "), "no words"),
        (RecursionError("too deep"), "RecursionError"),
        (pl.exceptions.PanicException("index out of bounds"), "PanicException"),
    ],
    ids=repr,
)
def test_only_a_message_counts_as_refused(error: BaseException, end: str, tmp_path: Path):
    def raises(folder: Path) -> None:
        raise error

    assert ended(of_reader(raises), tmp_path)[0] == end


def test_a_seed_gives_the_same_file_again():
    data = b'{"a": [1, 2.5, "text"], "b": {"c": null}}' * 3
    for mutation in (*BYTES, other_words):
        made = {mutation(data, Random(seed)) for seed in range(40)}
        assert len(made) > 20
        assert made == {mutation(data, Random(seed)) for seed in range(40)}
    one = data[: len(data) // 3]
    assert other_json(one, Random(1)) == other_json(one, Random(1)) != one


def test_a_footer_is_damaged_and_the_rows_are_not():
    data = b"PAR1" + b"rows" * 9 + b"footer" * 9 + (54).to_bytes(4, "little") + b"PAR1"
    for seed in range(20):
        changed = other_footer(data, Random(seed))
        assert changed.startswith(data[:40]) and changed.endswith(b"PAR1") and changed != data


HARMFUL = """
import os, random, tempfile, time
from collections import Counter
from pathlib import Path
from tests.torture import inputs
from tests.torture.read_files import ReadFile

ways = {b"fine": int, b"abort": os.abort, b"room": lambda: bytearray(4 << 30),
        b"hang": lambda: time.sleep(60)}
one = ReadFile("any", lambda folder: (folder / "any").write_bytes(b"fine"), "any",
               lambda folder: ways[(folder / "any").read_bytes()](),
               (lambda data, rng: rng.choice([*ways]),))
inputs.SECONDS = 0.3
with tempfile.TemporaryDirectory() as home:
    tried = inputs.try_all(one, 12, 0, Path(home))
    drawn = []
    for number in range(12):
        file = inputs.tampered(one, f"0 {number}", Path(home, "start"), Path(home, "here")) / "any"
        drawn.append(file.read_bytes())
counts = Counter(drawn)
assert all(counts[way] for way in ways), counts
ends = {"read": counts[b"fine"], "MemoryError": counts[b"room"],
        "ended the process": counts[b"abort"] + counts[b"hang"]}
assert tried.ends == ends, tried
told = {int(line.split(":")[0].split()[-1]) for line in tried.failures}
assert told == {number for number, way in enumerate(drawn) if way != b"fine"}, tried.failures
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks, and limits of memory")
def test_a_file_that_ends_or_holds_up_the_process_is_told():
    ran = subprocess.run(
        [sys.executable, "-c", HARMFUL],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
