"""Models, searches and own metrics named on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from fairrec.auditing.model_options import search_options
from fairrec.auditing.settings import load_metrics
from fairrec.core.errors import InputError
from tests.end_to_end.command_line import AUDIT, Ran, run_here, write_tables
from tests.grouped_options import on_command_line

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


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--scorer", "a:b", "--endpoint", "http://x/y"), "Name one of --scorer, --endpoint"),
        (("--rate", "3"), "--rate is for a model named by --endpoint."),
        (("--concurrency", "3"), "--concurrency is for a model named by --scorer or --endpoint or"),
        (("--scorer", "my_ranker:score", "--timeout", "3"), "--timeout is for a model named by"),
        (
            ("--scorer", "my_ranker:score", "--features", "users:age"),
            "called as score(user_ids, item_ids, age=)",
        ),
        (("--onnx", "m.onnx", "--token-env", "X"), "--token-env is for a model named by --end"),
        (("--scorer-identity", "v1"), "--scorer-identity is for a model. Name it"),
        (
            ("--scorer", "my_ranker"),
            "invalid --scorer: expected package.module:function, got my_ranker",
        ),
        (
            ("--endpoint", "http://x/y"),
            "expected an address of the Open Inference Protocol, http://HOST/v2/models/NAME",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_line(options, says, tables: Path):
    ran = run_here(*COMMAND, *options, "--out", "out")
    assert (ran.code, ran.stdout) == (2, "")
    assert says in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert not (tables / "out").exists()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"hyper": {"steps": 3.0}}, "--hyper"),
        ({"reference": 0.5}, "--reference"),
        ({"budget_users": 9, "hyper": {"steps": 3.0}}, "--budget-users"),
    ],
)
def test_settings_of_a_search_that_is_not_named_are_refused(given, named):
    with pytest.raises(InputError, match=f"^{named} is for a search. Add"), on_command_line():
        search_options(None, given, has_model=False)


@pytest.mark.parametrize("code", ["", "0", "1", "'enough'"])
def test_a_file_that_ends_the_program_is_refused(code, tmp_path: Path):
    file = tmp_path / "ends.py"
    file.write_text(f"raise SystemExit({code})")
    with pytest.raises(InputError, match=r"load=.*: SystemExit: .*Give a Python"):
        load_metrics(str(file))
