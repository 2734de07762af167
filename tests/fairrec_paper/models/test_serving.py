"""A trained run as a service, and its audit over HTTP by the command line."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import httpx
import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.ids import known_positions
from fairrec_paper.models.run import load_run
from fairrec_paper.models.server import serving_app
from tests.end_to_end.command_line import plain_environment, run_here
from tests.fairrec_paper.command_line import run_paper

TOKEN = "s3cr3t-of-the-run"


class Served(NamedTuple):
    home: Path
    url: str
    process: subprocess.Popen[str]
    command: list[str]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    home = tmp_path
    quiet = ("--seed", "1", "--quiet")
    world, run = str(home / "world"), str(home / "run")
    made = run_paper("synthetic", "--out", world, "--users", "150", "--items", "80", *quiet)
    assert made.code == 0, made.stderr
    trained = run_paper(
        *("train", "synthetic", "--data", world, "--model", "wide_deep", "--out", run),
        *("--epochs", "1", "--batch-size", "512", "--hyper", "layers=8,embedding=4", *quiet),
    )
    assert trained.code == 0, trained.stderr
    command = [sys.executable, "-m", "fairrec_paper", "serve", run, "--port", "0"]
    more = ["--name", "wide", "--host", "127.0.0.1", "--token-env", "RUN_TOKEN", "--device", "cpu"]
    process = subprocess.Popen(
        [*command, *more],
        env=plain_environment({"RUN_TOKEN": TOKEN}),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = process.stderr.readline()
    found = re.search(r"http://\S+", said)
    assert found is not None, said + process.stderr.read()
    command = shlex.split(process.stderr.readline())
    assert command[:2] == ["fairrec", "audit"]
    yield Served(home, found[0], process, command)
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=30)[1]
    assert process.returncode in (0, 130, -signal.SIGINT)
    assert "Traceback" not in rest
    assert TOKEN not in said + rest


@pytest.mark.slow
def test_a_run_is_served_and_audited_over_http(served: Served, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(served.home)
    monkeypatch.setenv("RUN_TOKEN", TOKEN)
    # one test, because a run takes long to train and to load
    speaks_the_open_inference_protocol(served)
    gives_the_scores_of_the_run(served)
    refuses_a_wrong_token(served)
    gives_the_audit_of_the_run(served)
    tells_a_command_that_gives_it_too(served)
    leaves_no_room_for_another(served)


def speaks_the_open_inference_protocol(served: Served) -> None:
    server = served.url.partition("/v2/")[0]
    for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/wide/ready"):
        assert httpx.get(server + path).status_code == 200
    assert httpx.get(f"{server}/v2").json()["name"] == "fairrec"
    about = httpx.get(served.url).json()
    assert about["name"] == "wide"
    ids = [{"name": name, "datatype": "BYTES", "shape": [-1]} for name in ("user_id", "item_id")]
    assert about["inputs"] == ids
    assert about["outputs"] == [{"name": "score", "datatype": "FP32", "shape": [-1]}]
    assert httpx.get(f"{server}/v2/models/other").status_code == 404
    # the version tells one training from another
    weights = (served.home / "run/model.safetensors").read_bytes()
    assert about["versions"] == [hashlib.sha256(weights).hexdigest()[:12]]
    versions = f"{served.url}/versions"
    assert httpx.get(f"{versions}/{about['versions'][0]}").json() == about
    assert httpx.get(f"{versions}/{about['versions'][0]}/ready").status_code == 200
    assert httpx.get(f"{versions}/1").status_code == 404


def ask(served: Served, body: object, token: str = TOKEN) -> httpx.Response:
    return httpx.post(
        f"{served.url}/infer", json=body, headers={"Authorization": f"Bearer {token}"}
    )


def gives_the_scores_of_the_run(served: Served) -> None:
    run = load_run(served.home / "run")
    users = run.users["user_id"].gather([1, 1, 5]).to_numpy()
    items = run.items["item_id"].gather([3, 4, 3]).to_numpy()
    nested = [[item] for item in items.tolist()]
    body = {
        "id": "42",
        "inputs": [
            {"name": "user_id", "shape": [3], "datatype": "BYTES", "data": users.tolist()},
            {"name": "item_id", "shape": [3, 1], "datatype": "BYTES", "data": nested},
        ],
    }
    reply = ask(served, body).json()
    assert (reply["id"], reply["model_name"]) == ("42", "wide")
    assert reply["model_version"] == run.version()
    (output,) = reply["outputs"]
    assert (output["name"], output["datatype"], output["shape"]) == ("score", "FP32", [3])
    expected = run.score(users, items).astype(np.float32)
    np.testing.assert_array_equal(np.array(output["data"], dtype=np.float32), expected)
    unknown = ask(served, tensors(["nobody"], items[:1].tolist()))
    assert "user_id 'nobody' is not in" in unknown.json()["error"]


def tensors(users: object, items: object) -> dict[str, object]:
    return {"inputs": [{"name": "user_id", "data": users}, {"name": "item_id", "data": items}]}


def sums(users: list[Any], items: list[Any]) -> Any:
    """A run of which a score tells the positions of its user and item."""

    def score(user_ids: Any, item_ids: Any) -> Any:
        known = known_positions(pl.Series("user_id", user_ids), pl.Series(users))
        return known + 10.0 * known_positions(pl.Series("item_id", item_ids), pl.Series(items))

    return SimpleNamespace(
        users=pl.DataFrame({"user_id": users}),
        items=pl.DataFrame({"item_id": items}),
        record=SimpleNamespace(model="sums"),
        score=score,
        version=lambda: "1f",
    )


def ask_app(users: list[Any], items: list[Any], **request: Any) -> httpx.Response:
    """Ask the service of a run that adds up positions, without a process."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(serving_app(sums(users, items), "sums"))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/v2/models/sums/infer", **request)

    return asyncio.run(ask())


def test_ids_are_of_the_type_of_the_run():
    for users, items, asked in (([4, 5], [6, 7], [5, 4]), (["4", "b"], ["6", "7"], ["b", "4"])):
        reply = ask_app(users, items, json=tensors(asked, [items[1]] * 2)).json()
        assert reply["outputs"][0]["data"] == [11.0, 10.0]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "inputs: Field required"),
        ([], "Input should be an object"),
        ({"inputs": [3]}, "inputs.0: Input should be an object"),
        (tensors([4], [6, 7]), "1 user ids, but 2 item ids"),
        (tensors(["a"], [6]), '"user_id" must be a list of INT64'),
        (tensors([True], [6]), '"user_id" must be a list of INT64'),
        (tensors([2**63], [6]), '"user_id" must be a list of INT64'),
        ({"inputs": tensors([4], [6])["inputs"] * 2}, 'must be one input "user_id"'),
        (tensors([1.5], [6]), '"user_id" must be a list of INT64'),
        (tensors([None], [6]), '"user_id" must be a list of INT64'),
        (tensors([[4], [4, 5]], [6]), '"user_id" must be a list of INT64'),
        (tensors([4], [10_000_000]), "item_id 10000000 is not in"),
    ],
)
def test_requests_that_are_none_are_refused_in_words(body, says):
    reply = ask_app([4, 5], [6, 7], json=body)
    assert reply.status_code == 400
    assert says in reply.json()["error"]


def test_a_request_that_is_no_json_is_refused():
    reply = ask_app([4], [6], content=b"{")
    assert (reply.status_code, "Invalid JSON" in reply.json()["error"]) == (400, True)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "localhost.evil.example"])
def test_a_request_under_the_name_of_another_host_is_refused(host):
    reply = ask_app([4], [6], json=tensors([4], [6]), headers={"Host": host})
    assert reply.status_code == 400
    assert "outputs" not in reply.text


def refuses_a_wrong_token(served: Served) -> None:
    reply = ask(served, tensors([1], [1]), "another")
    assert reply.status_code == 401
    assert TOKEN not in reply.text


def gives_the_audit_of_the_run(served: Served) -> None:
    common = ("--permutations", "19", "--format", "json", "--by", "gender,age", "--no-report")
    here = run_here("audit", "--run", str(served.home / "run"), *common, "--search", "exact")
    run = served.home / "run"
    tables = ("--users", "run/users.parquet", "--items", "run/items.parquet")
    history = ("--history", "run/history.parquet", "--ledger", "http.db", "--out", "out")
    over_http = run_here(
        *("audit", "run/test.parquet", *tables, *history, *common, "--endpoint", served.url),
        *("--protocol", "oip", "--token-env", "RUN_TOKEN", "--rate", "200", "--retries", "3"),
        *("--max-reply-mb", "8", "--output", "score", "--concurrency", "4"),
    )
    assert over_http.code == 0, over_http.stderr
    one, other = json.loads(here.stdout), json.loads(over_http.stdout)
    assert other["metrics"] == one["metrics"]
    assert other["search"]["users_paid"] == 150
    assert other["search"]["model_identity"].endswith(
        f"version {load_run(run).version()} output score"
    )
    assert TOKEN not in over_http.stdout + over_http.stderr
    assert pl.read_parquet(run / "test.parquet").height == 150
    # the same again is free
    again = run_here(
        *("audit", "run/test.parquet", *tables, *history, *common, "--endpoint", served.url),
        *("--token-env", "RUN_TOKEN", "--output", "score", "--search", "adaptive"),
    )
    assert again.code == 0, again.stderr
    assert json.loads(again.stdout)["search"]["users_paid"] == 0


def tells_a_command_that_gives_it_too(served: Served) -> None:
    here = run_here("audit", "--run", str(served.home / "run"), "--format", "json", "--no-report")
    told = run_here(*served.command[1:], "--format", "json")
    assert told.code == 0, told.stderr
    assert json.loads(told.stdout)["metrics"] == json.loads(here.stdout)["metrics"]


def leaves_no_room_for_another(served: Served) -> None:
    port = served.url.partition("127.0.0.1:")[2].partition("/")[0]
    run = str(served.home / "run")
    taken = run_paper("serve", run, "--port", port)
    assert taken.code == 2
    assert f"--port {port}: cannot listen there" in taken.stderr
    assert run_paper("serve", str(served.home), "--quiet").code == 2
    named = run_paper("serve", run, "--name", "a/b")
    assert "--name a/b" in named.stderr
    with pytest.raises(InputError, match="is not set, or is empty"):
        run_paper("serve", run, "--token-env", "NO_SUCH_VARIABLE", "--debug")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "no run there"),
        (("--token-env", "NO_SUCH_VARIABLE"), "--token-env: the environment variable"),
        (("--device", "tpu"), "invalid --device: expected 'auto', 'cpu' or 'cuda', got tpu"),
    ],
)
def test_what_cannot_be_served_is_said_in_words(options, says, tmp_path: Path):
    ran = run_paper("serve", str(tmp_path / "run"), *options)
    assert (ran.code, ran.stdout) == (2, "")
    assert says in ran.stderr
