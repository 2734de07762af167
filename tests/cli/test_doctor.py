from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto, helper

from tests.end_to_end.command_line import run_here, write_tables

MODULE = "def score(user_ids, item_ids):\n    return [0.5 for _ in user_ids]\n"


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tables(tmp_path)
    (tmp_path / "flat_ranker.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_model_that_spoils_an_audit_ends_with_another_exit_code(tables: Path):
    ran = run_here("doctor", "predictions.parquet", "--scorer", "flat_ranker:score")
    assert ran.code == 1
    assert "problem " in ran.stdout


def test_a_model_must_be_named_and_its_options_must_fit(tables: Path):
    ran = run_here("doctor", "predictions.parquet")
    assert (ran.code, ran.stdout) == (2, "")
    assert "Name the model: --scorer, --endpoint or --onnx." in ran.stderr
    ran = run_here(
        "doctor", "predictions.parquet", "--scorer", "flat_ranker:score", "--concurrency", "0"
    )
    assert (ran.code, ran.stdout) == (2, "")
    assert "invalid --concurrency: expected a whole number from 1 to 256, got 0" in ran.stderr


def test_a_model_of_very_many_inputs_is_told_on_a_screen(tables: Path):
    inputs = [
        helper.make_tensor_value_info(f"{'x' * 200}{at}", TensorProto.FLOAT, ["n"])
        for at in range(500)
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])
    nodes = [helper.make_node("Sum", [one.name for one in inputs], ["y"])]
    model = helper.make_model(
        helper.make_graph(nodes, "wide", inputs, [output]),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    (tables / "wide.onnx").write_bytes(model.SerializeToString())
    ran = run_here("doctor", "predictions.parquet", "--onnx", "wide.onnx")
    assert ran.code == 2
    assert "and 492 more" in ran.stdout
    assert len(ran.stdout + ran.stderr) < 40 * 80
