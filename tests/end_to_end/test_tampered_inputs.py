"""A few files of every kind, damaged and tampered with; `tests.torture.inputs` tries many more."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pytest

from fairrec.core.errors import InputError
from tests.torture.inputs import ended, tampered
from tests.torture.mutations import BYTES, other_footer, other_json, other_words
from tests.torture.read_files import ReadFile, read_files

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
