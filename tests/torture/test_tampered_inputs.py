"""Files of every kind, damaged and tampered with, are read or refused in words."""

from __future__ import annotations

import os
import shutil
import traceback
from pathlib import Path
from random import Random

import polars as pl
import pytest

from fairrec.core.errors import FairRecError, InputError, UnexpectedError
from tests.torture.mutations import BYTES, other_footer, other_json, other_words
from tests.torture.read_files import ReadFile, read_files

pytestmark = pytest.mark.slow

N_FILES = int(os.environ.get("FAIRREC_TAMPERED", "12"))
"""Files of each kind."""


def tampered(one: ReadFile, seed: str, start: Path, here: Path) -> Path:
    """A folder whose file is not as it was; the same for the same seed."""
    rng = Random(f"{one.kind} {seed}")
    for file in start.iterdir():
        target = here / file.name
        if file.is_file() and file.name != one.name and (one.mend or not target.exists()):
            shutil.copyfile(file, target)
    data = (start / one.name).read_bytes()
    (here / one.name).write_bytes(rng.choice(one.mutations)(data, rng))
    if one.mend is not None:
        one.mend(here)
    return here


def ended(one: ReadFile, folder: Path) -> tuple[str, str]:
    """How reading ended, in a word, and what was wrong where something was."""
    try:
        one.read(folder)
    except UnexpectedError:
        return "unexpected", traceback.format_exc()
    except FairRecError as error:
        return ("refused", "") if str(error).strip() else ("no words", repr(error))
    except BaseException as error:  # a panic of a library is no Exception
        return type(error).__name__, traceback.format_exc()
    return "read", ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("one", read_files(), ids=lambda one: one.kind)
def test_tampered_files_are_read_or_refused(one: ReadFile, tmp_path: Path):
    start, here = tmp_path / "start", tmp_path / "here"
    for folder in (start, here):
        folder.mkdir()
    one.make(start)
    # what is refused as it is would be refused in any case
    assert ended(one, start) == ("read", "")
    for number in range(N_FILES):
        end, why = ended(one, tampered(one, f"suite {number}", start, here))
        assert end in ("read", "refused"), f"{number}: {why}"


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
    def fail(folder: Path) -> None:
        raise error

    assert ended(ReadFile("any", fail, "any", fail, ()), tmp_path)[0] == end


def test_a_seed_gives_the_same_file_again():
    data = b'{"a": [1, 2.5, "text"], "b": {"c": null}}' * 3
    for mutation in (*BYTES, other_words):
        made = [{mutation(data, Random(seed)) for seed in range(40)} for _ in range(2)]
        assert len(made[0]) > 20 and made[0] == made[1]
    one = data[: len(data) // 3]
    assert other_json(one, Random(1)) == other_json(one, Random(1)) != one


def test_a_footer_is_damaged_and_the_rows_are_not():
    data = b"PAR1" + b"rows" * 9 + b"footer" * 9 + (54).to_bytes(4, "little") + b"PAR1"
    for seed in range(20):
        changed = other_footer(data, Random(seed))
        assert changed.startswith(data[:40]) and changed.endswith(b"PAR1") and changed != data
