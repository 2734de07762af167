"""The files of a run: what is written, and what is said of those that are damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save

from fairrec.core.errors import InputError
from fairrec_paper.models.run import load_run
from tests.fairrec_paper.models.runs.small_run import small_run


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
    with pytest.raises(InputError, match=r"run\.json: is no trained run of this version"):
        load_run(run)
    (run / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"run\.json: is no trained run of this version"):
        load_run(run)
    with pytest.raises(InputError, match="no run there"):
        load_run(run / "nothing")


def test_no_pickle_is_written(run: Path):
    assert {file.suffix for file in run.iterdir()} == {".json", ".parquet", ".safetensors"}


def with_hyper(run: Path, **hyper: object) -> Path:
    record = json.loads((run / "run.json").read_text())
    record["hyper_parameters"] |= hyper
    (run / "run.json").write_text(json.dumps(record))
    return run


def test_weights_of_another_size_are_refused(run: Path):
    with pytest.raises(InputError, match="weights of another model"):
        load_run(with_hyper(run, embedding=3))


@pytest.mark.parametrize(
    "hyper",
    [
        {"dropout": "0.5"},
        {"dropout": None},
        {"embedding": True},
        {"embedding": 2**31},
        {"layers": [1] * 101},
        {"layers": ["8"]},
    ],
    ids=str,
)
def test_hyper_parameters_of_other_types_are_refused(run: Path, hyper: dict[str, Any]):
    with pytest.raises(InputError, match=f"invalid hyper-parameter {next(iter(hyper))}"):
        load_run(with_hyper(run, **hyper))


def test_codes_in_the_weights_are_those_of_the_tables(run: Path):
    weights = run / "model.safetensors"
    tensors = load_file(weights)
    tensors["fields.user_rows"][0, 0] = 10**6
    weights.write_bytes(save(tensors))
    with pytest.raises(InputError, match="weights of another model"):
        load_run(run)


def test_a_record_too_deep_to_read_is_refused(run: Path):
    (run / "run.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match=r"run\.json: is no trained run of this version"):
        load_run(run)
