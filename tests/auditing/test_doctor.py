"""What a batch shows of a model, and what is made of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from fairrec.auditing.doctor import (
    MOST_USERS,
    SAME,
    ModelCheck,
    first_lists,
)
from fairrec.inputs.tables import Table
from tests.end_to_end.command_line import run_here
from tests.scoring.http.served_world import CANDIDATES, USERS, FaultyServer

SOUND = ModelCheck(
    n_users=2,
    n_pairs=4,
    inputs=(),
    seconds=(0.1, 0.1),
    lowest=0.0,
    highest=2.0,
    n_distinct=4,
    again=0.0,
    backwards=0.0,
    alone=0.0,
    faults={},
)


def table(lengths: list[int]) -> dict[str, Table]:
    frame = pl.DataFrame(
        {
            "user_id": [f"u{at}" for at in range(len(lengths))],
            "item_id": [list(range(length)) for length in lengths],
        },
        schema={"user_id": pl.String, "item_id": pl.List(pl.Int64)},
    )
    return {"predictions": Table(frame, "predictions", {})}


def test_rounding_is_no_problem():
    assert SOUND.problems() == ()
    rounded = dict.fromkeys(("again", "backwards", "alone"), SAME * 2.0)
    assert replace(SOUND, **rounded).problems() == ()
    assert len(replace(SOUND, again=SAME * 2.1).problems()) == 1
    # one pair has no order
    assert replace(SOUND, n_pairs=1, n_distinct=1).problems() == ()


def test_the_first_users_with_candidates_that_fit_into_a_call_are_asked_for():
    candidates, ids = first_lists(table([0, 3, 2, 0, 4, 1]), 6)
    assert ids.to_list() == ["u1", "u2"]
    assert candidates.offsets.tolist() == [0, 3, 5]
    # one at least, however long, and no more than a few dozen
    assert first_lists(table([9, 1]), 6)[1].to_list() == ["u0"]
    assert len(first_lists(table([1] * 50), 100)[1]) == MOST_USERS


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
        ("together", "scores depend on which users are asked together"),
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
    (folder / "scores.json").write_text(json.dumps(scores))
    ran = run_here(*DOCTOR, "--scorer", "doctors_ranker:score", "--debug")
    assert ran.code == 0
    assert "scores    0 to 0.07, 8 different" in ran.stdout
    failed = run_here(*DOCTOR, "--scorer", "doctors_ranker:fails")
    assert failed.code == 2
    assert "LookupError: no such user" in failed.stderr
    assert "'u0', 'u1', 'u2' and 29 more" in failed.stderr


@pytest.mark.parametrize(("command", "concurrency"), [("doctor", "1"), ("audit", "2")])
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
