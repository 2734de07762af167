"""Counterfactuals of models that are asked elsewhere: a server process, a file, a trained run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import polars as pl
import pytest
from onnx import TensorProto, helper, numpy_helper

import fairrec
from fairrec.core.errors import InputError, ScoringError
from tests.counterfactuals.flipped_world import N_ITEMS, N_USERS, flipped, people

MANY = 10**6


@contextmanager
def served(log: Path, n_calls: int = MANY) -> Iterator[str]:
    """The address of a server process of its own."""
    script = Path(__file__).with_name("flipped_server.py")
    words = [sys.executable, str(script), "0", str(log), str(n_calls)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/rank"
    finally:
        process.kill()
        process.communicate()


def asked(url: str, **given: Any) -> fairrec.CounterfactualResult:
    """A model that a new process would make, for the same ledger."""
    model = fairrec.Endpoint(
        url,
        protocol="json",
        features="users:gender",
        retries=0,
        rows_per_call=10 * N_ITEMS,
        concurrency=1,
    )
    defaults = {"features": None, "metrics": "changed@3", "permutations": 0}
    return flipped(model, scorer_identity="ranker 1", **{**defaults, **given})


def pairs_in(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


@pytest.mark.slow
def test_a_server_that_dies_is_asked_about_nobody_twice_once_it_is_back(tmp_path: Path):
    log, ledger = tmp_path / "log", tmp_path / "scores.ledger"
    whole = tmp_path / "whole"
    with served(whole) as url:
        expected = asked(url, budget_users=100)
    with served(log, n_calls=7) as url, pytest.raises(ScoringError, match="endpoint"):
        asked(url, budget_users=100, ledger=ledger)
    n_before = len(pairs_in(log))
    assert 0 < n_before < 2 * 100 * N_ITEMS
    with served(log) as url:
        found = asked(url, budget_users=100, ledger=ledger)
    assert found.summary.paid.users_before > 0
    assert found.summary.paid.users + found.summary.paid.users_before == 200
    pairs = pairs_in(log)
    assert len(pairs) == len({*pairs})
    assert {*pairs} == {*pairs_in(whole)}
    assert found.audit.per_user.equals(expected.audit.per_user)
    # a larger budget pays for the others alone, and no call is made where all is there
    with served(log) as url:
        asked(url, ledger=ledger)
    assert len(pairs_in(log)) == 2 * N_USERS * N_ITEMS
    with served(log, n_calls=0) as url:
        again = asked(url, ledger=ledger)
    assert (again.summary.paid.users, again.summary.paid.calls) == (0, 0)
    assert again.summary.affected.share == 1


def test_a_value_that_the_server_refuses_is_named_and_what_was_paid_is_kept(tmp_path: Path):
    log, ledger = tmp_path / "log", tmp_path / "scores.ledger"
    users = people().users.with_columns(
        gender=pl.when(pl.col("user_id") == 3).then(pl.lit("X")).otherwise("gender")
    )
    with served(log) as url:
        # user 3 is not among those drawn, so that all of them are scored as they are
        with pytest.raises(ScoringError) as caught:
            asked(url, users=users, ledger=ledger, budget_users=20)
        assert str(caught.value).startswith("Users as gender=X: The endpoint http://127.0.0.1")
        assert "HTTP 422" in str(caught.value)
        assert "gender X is not in the vocabulary" in str(caught.value)
        pairs = pairs_in(log)
        assert len(pairs) == len({*pairs}) >= 20 * N_ITEMS
        # what was paid for before it was refused is not paid for again
        found = asked(url, users=users, ledger=ledger, budget_users=20, reference="gender=M")
        pairs = pairs_in(log)
        assert len(pairs) == len({*pairs})
        assert found.summary.affected.share == 1


@pytest.mark.slow
def test_from_the_command_line_a_ledger_is_shared_by_one_process_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    people().candidates.write_parquet("candidates.parquet")
    people().users.write_parquet("users.parquet")
    with served(tmp_path / "log") as url:
        words = ("counterfactual", "candidates.parquet", "--users", "users.parquet")
        words += ("--by", "gender", "--endpoint", url, "--protocol", "json")
        words += ("--features", "users:gender", "--attribute", "gender", "--permutations", "0")
        words += ("--metrics", "changed@3", "--budget-users", "50", "--ledger", "l")
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-m", "fairrec", *words],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
    assert "0 lists scored (0 pairs in 0 calls), 100 more found in ledgers" in done.stdout
    assert len(pairs_in(tmp_path / "log")) == 2 * 50 * N_ITEMS


def write_ranker(file: Path) -> Path:
    """Items in rising order where the input `is_f` is 1, in falling order where it is 0."""
    nodes = [
        helper.make_node("Cast", ["item_id"], ["item"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["is_f", "two"], ["twice"]),
        helper.make_node("Sub", ["twice", "one"], ["sign"]),
        helper.make_node("Mul", ["item", "sign"], ["score"]),
    ]
    inputs = [("user_id", TensorProto.INT64), ("item_id", TensorProto.INT64)]
    inputs += [("is_f", TensorProto.FLOAT)]
    graph = helper.make_graph(
        nodes,
        "ranker",
        [helper.make_tensor_value_info(name, kind, ("n",)) for name, kind in inputs],
        [helper.make_tensor_value_info("score", TensorProto.FLOAT, ("n",))],
        [
            numpy_helper.from_array(np.array([size], dtype=np.float32), name)
            for name, size in (("one", 1), ("two", 2))
        ],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file
    )
    return file


def test_an_onnx_file_is_asked_about_as_many_as_the_budget_allows_and_once(tmp_path: Path):
    file, ledger = write_ranker(tmp_path / "ranker.onnx"), tmp_path / "scores.ledger"
    users = people().users.with_columns(is_f=(pl.col("gender") == "F").cast(pl.Int8))
    given = {"users": users, "by": "gender", "features": None, "attribute": "is_f"}
    given |= {"metrics": "changed@3", "permutations": 0, "ledger": ledger}

    def run(**more: Any) -> fairrec.CounterfactualResult:
        return flipped(fairrec.OnnxModel(file, features="users:is_f"), **{**given, **more})

    first = run(budget_users=60)
    assert first.summary.affected.share == 1
    assert (first.summary.n_users, first.summary.paid.users) == (60, 120)
    again = run(budget_users=60)
    assert (again.summary.paid.users, again.summary.paid.users_before) == (0, 120)
    assert again.audit.per_user.equals(first.audit.per_user)
    rest = run()
    assert rest.summary.paid.users == 2 * (N_USERS - 60)
    by_function = flipped(
        lambda user_ids, item_ids, is_f: item_ids * (2 * is_f - 1),
        **{**given, "features": "users:is_f", "ledger": None},
    )
    assert rest.audit.per_user.equals(by_function.audit.per_user)


def test_a_ledger_of_another_onnx_file_is_refused(tmp_path: Path):
    from tests.scoring.models.test_onnx_file import CANDIDATES, USERS, write_model

    def run(name: str, tastes: np.ndarray) -> None:
        file = write_model(tmp_path / name, tastes=tastes)
        fairrec.counterfactual(
            CANDIDATES,
            users=USERS,
            by="gender",
            scorer=fairrec.OnnxModel(file, features="users:age"),
            attribute="age",
            reference={"age": int(USERS["age"][0])},
            metrics="auc",
            permutations=0,
            ledger=tmp_path / "l",
        )

    tastes = np.ones((USERS.height, 3), dtype=np.float32)
    run("a.onnx", tastes)
    with pytest.raises(InputError, match="another model"):
        run("b.onnx", 2 * tastes)
