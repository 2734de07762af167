"""The files of a run: what is written, and what is said of those that are damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fairrec.core.errors import InputError
from fairrec.models.runs.run import load_run
from tests.models.runs.small_run import small_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return small_run(tmp_path)


def test_damaged_and_foreign_checkpoints_are_clear_errors(run: Path, tmp_path: Path):
    weights = run / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"model\.safetensors: cannot be read as safetensors"):
        load_run(run)
    weights.write_bytes(b"garbage")
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        load_run(run)
    other = small_run(tmp_path / "other", "dcn")
    shutil.copy(other / "model.safetensors", weights)
    with pytest.raises(InputError, match="weights of another model"):
        load_run(run)
    weights.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        load_run(run)


def test_a_damaged_record_is_a_clear_error(run: Path):
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**record, "surprise": 1}))
    with pytest.raises(InputError, match=r"run\.json: is damaged"):
        load_run(run)
    (run / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"run\.json: is damaged"):
        load_run(run)
    with pytest.raises(InputError, match="no run there"):
        load_run(run / "nothing")


def test_no_pickle_is_written(run: Path):
    assert {file.suffix for file in run.iterdir()} == {".json", ".parquet", ".safetensors"}
