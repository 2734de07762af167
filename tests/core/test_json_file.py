"""JSON files of ours, read back."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest
from pydantic import BaseModel

from fairrec.core import saved_files
from fairrec.core.errors import InputError
from fairrec.core.saved_files import checked_json, load_json
from fairrec.result.metric_schema import Gap
from fairrec.result.schema import AuditSummary

GAP = {"metric": "mrr", "size": 1.0, "advantaged": None, "disadvantaged": None, "chance": None}


def refused(path: Path, content: type = Gap) -> str:
    with pytest.raises(InputError) as error:
        load_json(path, content, "gap")
    assert "\n" not in str(error.value) and "\x1b" not in str(error.value)
    assert len(str(error.value)) < 700
    return str(error.value)


def test_what_was_written_is_read(tmp_path: Path):
    file = tmp_path / "gap.json"
    file.write_text(json.dumps(GAP))
    assert load_json(file, Gap, "gap").metric == "mrr"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (json.dumps({**GAP, "\x1b[2J\n": 1}), r"(\x1b[2J\n is not known)"),
        (json.dumps({"metric": 1}), "(metric has another form; 4 more)"),
        (json.dumps({"metric": "mrr"}), " is missing; 3 more)"),
        (json.dumps([1]), "(it is no such JSON)"),
        (json.dumps({**GAP, "size": float("nan")}), "is no gap of this version of FairRec"),
        ("[" * 100_000, "recursion"),
        ("", "is no gap"),
        (b"\xff\xff", "is no gap"),
    ],
)
def test_what_does_not_fit_is_told_in_a_line(tmp_path: Path, text: str | bytes, says: str):
    file = tmp_path / "gap.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert says in refused(file)


def test_an_older_result_that_lacks_what_is_reckoned_with_is_told_in_words(tmp_path: Path):
    file = tmp_path / "result.json"
    file.write_text('{"metrics": {"mrr": {"n_undefined": 3}}}')
    assert "is no gap" in refused(file, AuditSummary)


def test_a_pipe_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "gap.json")
    assert "is a pipe or a device" in refused(tmp_path / "gap.json")


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "nowhere"])
def test_a_path_that_cannot_be_is_told_in_words(tmp_path: Path, name: str):
    assert "cannot be read" in refused(tmp_path / name)


@pytest.mark.parametrize("number", ["1e999", '"nan"', '"-inf"', "9" * 400, "NaN"])
def test_numbers_that_are_none_are_refused(tmp_path: Path, number: str):
    file = tmp_path / "gap.json"
    file.write_text(json.dumps({**GAP, "size": None}).replace("null", number, 1))
    assert "is no gap of this version" in refused(file)


def test_whole_numbers_that_no_table_holds_are_refused():
    class Support(BaseModel):
        users: int

    assert checked_json(f'{{"users": {2**63 - 1}}}', Support).users == 2**63 - 1
    with pytest.raises(ValueError, match="too large"):
        checked_json(f'{{"users": {2**63}}}', Support)


def test_bounds_may_be_infinite_where_that_is_said():
    class Bounds(BaseModel):
        bounds: tuple[float, float]

    text = '{"bounds": [0, Infinity]}'
    assert checked_json(text, Bounds, has_infinity=True).bounds == (0, math.inf)
    with pytest.raises(ValueError, match="expected value"):
        checked_json(text, Bounds)
    with pytest.raises(ValueError, match="too large, or none"):
        checked_json('{"bounds": [0, NaN]}', Bounds, has_infinity=True)


def test_a_file_that_is_too_long_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "gap.json"
    file.write_text(json.dumps(GAP))
    monkeypatch.setattr(saved_files, "MOST_BYTES", 20)
    assert "has more than" in refused(file)
