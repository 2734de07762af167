"""`fairrec doctor`: what it says of sound models and of others."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fairrec.scoring.http_client import JsonClient
from fairrec.scoring.model_check import MOST_USERS
from tests.end_to_end.command_line import run_here
from tests.scoring.http.served_world import CANDIDATES, USERS, FaultyServer

MODULE = """
import json
from pathlib import Path

def score(user_ids, item_ids):
    known = json.loads(Path("scores.json").read_text())
    return [known[f"{user} {item}"] for user, item in zip(user_ids, item_ids)]

def fails(user_ids, item_ids):
    raise LookupError("no such user")

def leaves(user_ids, item_ids):
    raise SystemExit(3)

def leaves_without_a_word(user_ids, item_ids):
    raise SystemExit
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    CANDIDATES.write_parquet("candidates.parquet")
    USERS.write_parquet("users.parquet")
    return tmp_path


DOCTOR = ("doctor", "candidates.parquet")


def test_a_sound_endpoint_is_told_by_what_it_says_and_does(folder, server: FaultyServer):
    url, tag = server.address("plain", "/v2/models/m")
    ran = run_here(*DOCTOR, "--endpoint", url, "--users", "users.parquet")
    assert (ran.code, ran.stderr) == (0, "")
    said = ran.stdout.splitlines()
    assert f"endpoint  {url} (oip): ready, model m, version 7" in said
    assert "inputs    user_id BYTES [-1], item_id BYTES [-1]" in said
    assert "outputs   score FP64 [-1]" in said
    assert f"batch     {MOST_USERS} users, 256 pairs; sent: user_id, item_id" in said
    assert ran.stdout.count("the same scores") == 3
    assert said[-1] == "sound     an audit can ask this model"
    # once, again, backwards, and three users alone
    assert len(server.batches(tag)) == 6
    first, again, backwards, *alone = server.batches(tag)
    assert first == again == backwards[::-1]
    assert [*alone] == [[user] for user in first[:3]]


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("random-scores", "the same batch got other scores the second time"),
        ("sorted", "scores depend on the order of the pairs"),
        ("together", "scores depend on who is asked together"),
        ("equal", "all scores are equal"),
    ],
)
def test_what_would_spoil_an_audit_is_a_problem(mode, says, folder, server: FaultyServer):
    url, _ = server.address(mode)
    ran = run_here(*DOCTOR, "--endpoint", url, "--protocol", "json")
    assert ran.code == 1
    problems = [line for line in ran.stdout.splitlines() if line.startswith("problem ")]
    assert len(problems) == 1
    assert says in problems[0]


def test_faults_are_reported(folder, server: FaultyServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(JsonClient, "_back_off", lambda self, state: 0.01)
    url, _ = server.address("truncated")
    ran = run_here(*DOCTOR, "--endpoint", url, "--protocol", "json", "--timeout", "5")
    assert ran.code == 0
    assert "faults    3 x broken JSON, tried again" in ran.stdout


def test_an_endpoint_that_fails_is_an_error(folder, server: FaultyServer):
    url, _ = server.address("compressed")
    ran = run_here(*DOCTOR, "--endpoint", url, "--protocol", "json")
    assert ran.code == 2
    assert ran.stderr.startswith(f"ScoringError: The endpoint {url} failed on a batch of 32 users")


def test_a_batch_is_no_larger_than_a_call_may_be(folder, server: FaultyServer):
    url, tag = server.address("plain")
    ran = run_here(*DOCTOR, "--endpoint", url, "--protocol", "json", "--rows-per-call", "20")
    assert "batch     2 users, 16 pairs" in ran.stdout
    assert len(server.batches(tag)[0]) == 2


def test_without_a_single_candidate_there_is_nothing_to_ask_for(folder, server: FaultyServer):
    url, tag = server.address("plain")
    empty = CANDIDATES.with_columns(
        item_id=pl.lit([], dtype=pl.List(pl.String)), label=pl.lit([], dtype=pl.List(pl.Int64))
    )
    empty.write_parquet("empty.parquet")
    CANDIDATES.explode("item_id", "label").clear().write_parquet("no_rows.parquet")
    for name in ("empty.parquet", "no_rows.parquet"):
        ran = run_here("doctor", name, "--endpoint", url, "--protocol", "json")
        assert ran.code == 2
        assert ran.stderr.startswith(f"InputError: {name}: ")
        assert len(ran.stderr.splitlines()) == 1
    assert server.batches(tag) == []


def test_features_and_names_are_those_of_an_audit(folder, server: FaultyServer):
    url, _ = server.address("features")
    CANDIDATES.rename({"user_id": "uid"}).write_parquet("renamed.parquet")
    USERS.write_csv("users.csv")
    items = pl.DataFrame({"item_id": [f"i{i}" for i in range(40)], "price": range(40)})
    items.write_parquet("items.parquet")
    ran = run_here(
        *("doctor", "renamed.parquet", "--columns", "predictions.user_id=uid"),
        *("--users", "users.csv", "--items", "items.parquet"),
        *("--features", "users:years,items:price", "--inputs", "age=years"),
        *("--endpoint", url, "--protocol", "json"),
    )
    assert ran.code == 0, ran.stderr
    assert "sent: user_id, age (from years), item_id, price" in ran.stdout


def test_a_function_is_examined(folder: Path):
    (folder / "doctors_ranker.py").write_text(MODULE)
    scores = {
        f"{user} {item}": 0.01 * i
        for user, items in CANDIDATES.select("user_id", "item_id").iter_rows()
        for i, item in enumerate(items)
    }
    import json

    (folder / "scores.json").write_text(json.dumps(scores))
    ran = run_here(*DOCTOR, "--scorer", "doctors_ranker:score", "--debug")
    assert ran.code == 0
    assert "scores    0 to 0.07, 8 different" in ran.stdout
    failed = run_here(*DOCTOR, "--scorer", "doctors_ranker:fails")
    assert failed.code == 2
    assert "LookupError: no such user" in failed.stderr
    assert "'u0', 'u1', 'u2' and 29 more" in failed.stderr


@pytest.mark.parametrize("command", ["doctor", "audit"])
@pytest.mark.parametrize("concurrency", ["1", "2"])
def test_a_function_that_ends_the_program_is_an_error(command, concurrency, folder: Path):
    (folder / "leaving_ranker.py").write_text(MODULE)
    (folder / "leaving_at_once.py").write_text("import sys\nsys.exit(4)")
    by = ("--by", "gender") if command == "audit" else ()
    asked = (command, "candidates.parquet", "--users", "users.parquet", *by)
    options = ("--concurrency", concurrency, "--rows-per-call", "40")
    for scorer, says in (
        ("leaving_ranker:leaves", ": SystemExit: 3"),
        ("leaving_ranker:leaves_without_a_word", ": SystemExit"),
        ("leaving_at_once:score", "leaving_at_once cannot be imported: SystemExit: 4"),
    ):
        ran = run_here(*asked, *options, "--scorer", scorer)
        assert ran.code == 2, ran.stderr
        assert says in ran.stderr


def test_without_a_model_there_is_nothing_to_ask(folder: Path):
    ran = run_here(*DOCTOR)
    assert ran.code == 2
    assert "Name the model: --scorer, --endpoint or --onnx." in ran.stderr
