"""Whom a counterfactual asks about, and what is paid for."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import numpy as np
import onnx
import polars as pl
import pytest
from onnx import TensorProto, helper, numpy_helper

import fairrec
from fairrec.core.errors import InputError, ScoringError
from tests.counterfactuals.flipped_world import (
    N_ITEMS,
    N_USERS,
    Counted,
    blind,
    direct,
    flipped,
    people,
)


def test_a_reference_is_the_only_other_value():
    found = flipped(direct, reference="gender=M")
    n_women = people().users.filter(gender="F").height
    assert found.summary.n_users == n_women
    assert found.summary.n_at_reference == N_USERS - n_women
    assert found.audit.per_user["gender"].unique().to_list() == ["F"]
    assert found.summary.paid.rows == 2 * n_women * N_ITEMS
    assert f"{N_USERS - n_women} users with gender=M already are left out" in " ".join(
        found.audit.warnings
    )


def test_a_ledger_pays_for_no_user_under_one_value_twice(tmp_path: Path):
    model, ledger = Counted(direct), tmp_path / "scores.ledger"
    first = flipped(model, ledger=ledger, scorer_identity="direct", budget_users=200)
    n_asked = len(model.pairs)
    again = flipped(model, ledger=ledger, scorer_identity="direct", budget_users=200)
    assert len(model.pairs) == n_asked
    assert again.summary.paid.users == 0
    assert again.summary.paid.users_before == first.summary.paid.users == 400
    assert again.audit.per_user.equals(first.audit.per_user)
    flipped(model, ledger=ledger, scorer_identity="direct")
    assert len(model.pairs) == len({*model.pairs}) == 2 * N_USERS * N_ITEMS
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == ["scores.ledger", "scores.ledger.gender=F", "scores.ledger.gender=M"]


LONG = "𠀀" * 100


@pytest.mark.parametrize(
    ("first", "second"),
    [(f"{LONG}A", f"{LONG}B"), ("F-journal", "F"), ("F-wal", "F"), ("a/b", "a-b"), ("..", "")],
)
def test_each_value_has_a_ledger_of_its_own(first: str, second: str, tmp_path: Path):
    users = people().users.with_columns(gender=pl.col("gender").replace({"F": first, "M": second}))
    model = Counted(
        lambda user_ids, item_ids, gender, town: item_ids * (2 * (gender == second) - 1)
    )
    given = {"users": users, "ledger": tmp_path / "scores", "scorer_identity": "one"}
    given |= {"metrics": "changed@3", "permutations": 0}
    alone = [flipped(model, **given, reference={"gender": one}) for one in (first, second)]
    assert [one.summary.affected.share for one in alone] == [1, 1]
    n_asked = len(model.pairs)
    assert n_asked == len({*model.pairs}) == 2 * N_USERS * N_ITEMS
    flipped(model, **given)
    assert len(model.pairs) == n_asked
    assert len([*tmp_path.iterdir()]) == 3


def test_scores_of_users_with_other_features_are_refused(tmp_path: Path):
    given = {"ledger": tmp_path / "scores", "scorer_identity": "one", "permutations": 0}
    users = people().users
    flipped(direct, **given)
    changed = users.with_columns(gender=pl.col("gender").replace("M", "X"))
    with pytest.raises(InputError, match="made for other candidates or features: those of user"):
        flipped(direct, users=changed, **given)
    # what the model is not given changes nothing
    flipped(direct, users=users.with_columns(age=pl.col("age") + 1), **given)


def test_a_ledger_needs_the_name_of_each_model(tmp_path: Path):
    given = {"ledger": tmp_path / "scores", "permutations": 0}
    with pytest.raises(InputError, match=r"must know whose scores it holds.*scorer_identity="):
        flipped(direct, **given)
    with pytest.raises(InputError, match="other_model has no name"):
        flipped(direct, **given, scorer_identity="one", attribute=(), other_model=lambda u, i: i)
    assert [file.name for file in tmp_path.iterdir()] == ["scores"]


def test_an_audit_of_the_same_model_takes_its_scores_from_the_ledger(tmp_path: Path):
    from fairrec.scoring.model import FunctionModel

    asked, ledger = Counted(direct), tmp_path / "scores.ledger"
    model = FunctionModel(asked, name="direct", features="users:gender,town")
    flipped(model, features=None, ledger=ledger)
    n_asked = len(asked.pairs)
    fairrec.audit(
        people().candidates,
        users=people().users,
        by="gender",
        scorer=model,
        search=fairrec.Search("exact", ledger=ledger),
        statistics=fairrec.Statistics(permutations=0),
    )
    assert len(asked.pairs) == n_asked


def test_users_without_a_known_value_are_left_out_and_counted():
    world = people()
    users = world.users.with_columns(
        gender=pl.when(pl.col("user_id") < 30).then(None).otherwise("gender")
    )
    found = flipped(direct, users=users, by="age")
    assert (found.summary.n_unknown, found.summary.n_users) == (30, N_USERS - 30)
    assert "30 users without a known value" in " ".join(found.audit.warnings)


def test_everybody_is_counted_once():
    world = people()
    is_known = pl.col("user_id") % 10 > 0
    users = world.users.with_columns(gender=pl.when(is_known).then("gender"))
    lists = world.candidates.filter(pl.col("user_id") >= 100).drop("label")
    # held-out items of everybody, so that the first hundred are there without a list
    test = pl.DataFrame({"user_id": users["user_id"], "item_id": 1})
    given = {"candidates": lists, "users": users, "test": test, "by": "age", "permutations": 0}
    found = flipped(direct, **given)
    assert (found.summary.n_unknown, found.summary.n_users) == (50, N_USERS - 100 - 50)
    assert "100 users of the users table have no candidates" in " ".join(found.audit.warnings)
    as_men = flipped(direct, **given, reference={"gender": "M"}).summary
    assert as_men.n_unknown + as_men.n_at_reference + as_men.n_users == N_USERS - 100


def test_another_model_for_the_same_people():
    def other(user_ids, item_ids):
        return blind(user_ids, item_ids, None, None)

    found = flipped(direct, attribute=(), other_model=other)
    assert found.summary.pairs == ()
    top = found.audit.metric("mrr@3_change").findings[0]
    assert top.group == {"gender": "F"}
    men = found.audit.per_user.filter(gender="M")
    assert men["affected@3"].sum() == 0


def test_what_is_no_other_model_is_refused():
    with pytest.raises(InputError, match="invalid other_model: expected a folder of a trained run"):
        flipped(direct, attribute=(), other_model=3)


def test_what_nobody_differs_in_cannot_be_changed():
    users = people().users.with_columns(gender=pl.lit("F"))
    with pytest.raises(InputError, match="everybody has gender=F"):
        flipped(direct, users=users)
    with pytest.raises(InputError, match="Nobody is left"):
        flipped(direct, users=users, reference="gender=F")


def test_many_values_need_a_reference():
    users = people().users.with_columns(age=pl.col("user_id") % 50)
    given = {"users": users, "features": "users:age", "attribute": "age", "by": "gender"}
    with pytest.raises(InputError, match=r"users have 50 values.*reference="):
        flipped(lambda user_ids, item_ids, age: age, **given)


class Ranker(BaseHTTPRequestHandler):
    """Puts the last items first for women, and counts the pairs it is asked about."""

    asked: ClassVar[list[tuple[int, int, str]]] = []

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        pairs = [*zip(sent["user_id"], sent["item_id"], sent["gender"], strict=True)]
        Ranker.asked += pairs
        scores = [item if gender == "F" else -item for _, item, gender in pairs]
        body = json.dumps({"scores": scores}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


def test_an_endpoint_is_asked_once_about_each_user_under_each_value(tmp_path: Path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Ranker)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/rank"
    try:
        for _ in range(2):
            model = fairrec.Endpoint(url, protocol="json", features="users:gender")
            given = {"budget_users": 40, "ledger": tmp_path / "l", "permutations": 0}
            found = flipped(model, features=None, metrics="changed@3", **given)
            assert found.summary.affected.share == 1
    finally:
        server.shutdown()
        server.server_close()
    assert len(Ranker.asked) == len({*Ranker.asked}) == 2 * 40 * N_ITEMS


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
    from tests.scoring.test_onnx import CANDIDATES, USERS, write_model

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
            statistics=fairrec.Statistics(permutations=0),
            sample=fairrec.Sample(ledger=tmp_path / "l"),
        )

    tastes = np.ones((USERS.height, 3), dtype=np.float32)
    run("a.onnx", tastes)
    with pytest.raises(InputError, match="another model"):
        run("b.onnx", 2 * tastes)
