"""Models named on the command line: which options go together."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.end_to_end.command_line import AUDIT, Ran, run_here, write_tables

MODULE = """
def score(user_ids, item_ids):
    return [len(str(user)) + 0.1 * int(item[1:]) for user, item in zip(user_ids, item_ids)]
"""


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    write_tables(tmp_path)
    (tmp_path / "my_ranker.py").write_text(MODULE)
    return tmp_path


COMMAND = (*AUDIT, "--by", "member", "--metrics", "auc")


def run_anew(*arguments: str) -> Ran:
    """Run the command line as a new process would: the module is imported again."""
    try:
        return run_here(*arguments)
    finally:
        del sys.modules["my_ranker"]


def test_a_function_scores_everyone_and_its_ledger_goes_on(tables: Path):
    options = ("--scorer", "my_ranker:score", "--ledger", "l.db", "--format", "json")
    first, second = (
        run_anew(*COMMAND, *options, *more)
        for more in ((), ("--concurrency", "2", "--rows-per-call", "50"))
    )
    assert first.code == 0, first.stderr
    one, other = json.loads(first.stdout), json.loads(second.stdout)
    assert one["search"]["name"] == "exact"
    assert one["search"]["users_paid"] == 48
    assert (other["search"]["users_paid"], other["search"]["users_before"]) == (0, 48)
    assert one["metrics"] == other["metrics"]
    assert "my_ranker:score" in one["command"]
    # a changed file is another model, unless its name is given
    (tables / "my_ranker.py").write_text(MODULE + "# changed\n")
    changed = run_anew(*COMMAND, *options)
    assert changed.code == 2
    assert "another model" in changed.stderr


def test_a_name_for_the_ledger_stands_for_the_file(tables: Path):
    options = ("--scorer", "my_ranker:score", "--scorer-identity", "v1", "--ledger", "l.db")
    assert run_anew(*COMMAND, *options).code == 0
    (tables / "my_ranker.py").write_text(MODULE + "# changed\n")
    again = run_anew(*COMMAND, *options, "--format", "json")
    assert json.loads(again.stdout)["search"]["users_paid"] == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--scorer", "a:b", "--endpoint", "http://x/y"), "Name one of --scorer, --endpoint"),
        (("--rate", "3"), "--rate is for a model named by --endpoint."),
        (("--concurrency", "3"), "--concurrency is for a model named by --scorer, --endpoint or"),
        (("--scorer", "my_ranker:score", "--timeout", "3"), "--timeout is for a model named by"),
        (
            ("--scorer", "my_ranker:score", "--features", "users:age"),
            "it is called as score(user_ids, item_ids, age=)",
        ),
        (("--onnx", "m.onnx", "--token-env", "X"), "--token-env is for a model named by --end"),
        (("--onnx", "m.onnx", "--inputs", "uid"), "invalid --inputs: expected INPUT=COLUMN"),
        (("--onnx", "m.onnx", "--inputs", "a=b,a=c"), "each input once"),
        (("--onnx", "m.onnx"), "there is no such file"),
        (("--scorer-identity", "v1"), "--scorer-identity is for a model named by"),
        (
            ("--scorer", "my_ranker"),
            "invalid --scorer: expected package.module:function, got my_ranker",
        ),
        (
            ("--endpoint", "http://x/y"),
            "expected an address of the Open Inference Protocol, http://HOST/v2/models/NAME",
        ),
        (("--endpoint", "http://x/y", "--protocol", "grpc"), "No protocol 'grpc'"),
        (
            ("--endpoint", "http://x/y", "--protocol", "json", "--retries", "-1"),
            "invalid --retries: expected",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_line(options, says, tables: Path):
    ran = run_here(*COMMAND, *options, "--out", "out")
    assert (ran.code, ran.stdout) == (2, "")
    assert says in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert not (tables / "out").exists()


def test_a_run_and_another_model_are_not_mixed(tables: Path):
    ran = run_here("audit", "--run", "run", "--scorer", "my_ranker:score")
    assert ran.code == 2
