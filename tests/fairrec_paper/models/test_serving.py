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

from fairrec.inputs.ids import known_positions
from fairrec_paper.models.run import load_run
from fairrec_paper.models.server import serving_app
from tests.end_to_end.command_line import plain_environment, run_here
from tests.fairrec_paper.command_line import run_paper
from tests.fairrec_paper.models.small_run import small_run

TOKEN = "s3cr3t-of-the-run"


class Served(NamedTuple):
    home: Path
    url: str
    process: subprocess.Popen[str]
    command: list[str]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    run = str(small_run(tmp_path))
    command = [sys.executable, "-m", "fairrec_paper", "serve", run, "--port", "0"]
    process = subprocess.Popen(
        [*command, "--token-env", "RUN_TOKEN", "--device", "cpu"],
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
    yield Served(tmp_path, found[0], process, command)
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
    leaves_no_room_for_another(served)


def speaks_the_open_inference_protocol(served: Served) -> None:
    server = served.url.partition("/v2/")[0]
    assert httpx.get(f"{server}/v2/models/deepfm/ready").status_code == 200
    about = httpx.get(served.url).json()
    assert about["name"] == "deepfm"
    ids = [{"name": name, "datatype": "BYTES", "shape": [-1]} for name in ("user_id", "item_id")]
    assert about["inputs"] == ids
    assert about["outputs"] == [{"name": "score", "datatype": "FP32", "shape": [-1]}]
    assert httpx.get(f"{server}/v2/models/other").status_code == 404
    # the version tells one training from another
    weights = (served.home / "run/model.safetensors").read_bytes()
    assert about["versions"] == [hashlib.sha256(weights).hexdigest()[:12]]


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
    assert (reply["id"], reply["model_name"]) == ("42", "deepfm")
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
        transport = httpx.ASGITransport(serving_app(sums(users, items)))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/v2/models/sums/infer", **request)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "inputs: Field required"),
        ([], "Input should be an object"),
        (tensors([4], [6, 7]), "1 user ids, but 2 item ids"),
        (tensors(["a"], [6]), '"user_id" must be a list of INT64'),
        ({"inputs": tensors([4], [6])["inputs"] * 2}, 'must be one input "user_id"'),
        (tensors([[4], [4, 5]], [6]), '"user_id" must be a list of INT64'),
        (tensors([4], [10_000_000]), "item_id 10000000 is not in"),
    ],
)
def test_requests_that_are_none_are_refused_in_words(body, says):
    reply = ask_app([4, 5], [6, 7], json=body)
    assert reply.status_code == 400
    assert says in reply.json()["error"]


@pytest.mark.parametrize("host", ["evil.example:80", "", "localhost.evil.example"])
def test_a_request_under_the_name_of_another_host_is_refused(host):
    reply = ask_app([4], [6], json=tensors([4], [6]), headers={"Host": host})
    assert reply.status_code == 400
    assert "outputs" not in reply.text


def refuses_a_wrong_token(served: Served) -> None:
    reply = ask(served, tensors([1], [1]), "another")
    assert reply.status_code == 401
    assert TOKEN not in reply.text


def gives_the_audit_of_the_run(served: Served) -> None:
    common = ("--permutations", "19", "--format", "json", "--no-report")
    here = run_here("audit", "--run", "run", *common, "--search", "exact")
    tables = ("--users", "run/users.parquet", "--items", "run/items.parquet")
    over_http = run_here(
        *("audit", "run/test.parquet", *tables, "--history", "run/history.parquet", *common),
        *("--by", "gender,age,occupation"),
        *("--endpoint", served.url, "--protocol", "oip", "--token-env", "RUN_TOKEN"),
    )
    assert over_http.code == 0, over_http.stderr
    one, other = json.loads(here.stdout), json.loads(over_http.stdout)
    assert other["metrics"] == one["metrics"]
    version = load_run(served.home / "run").version()
    assert f"version {version}" in other["search"]["model_identity"]
    assert TOKEN not in over_http.stdout + over_http.stderr
    told = run_here(*served.command[1:], *common)
    assert told.code == 0, told.stderr
    assert json.loads(told.stdout)["metrics"] == one["metrics"]


def leaves_no_room_for_another(served: Served) -> None:
    port = served.url.partition("127.0.0.1:")[2].partition("/")[0]
    taken = run_paper("serve", str(served.home / "run"), "--port", port)
    assert taken.code == 2
    assert f"--port {port}: cannot listen there" in taken.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "no run there"),
        (("--token-env", "NO_SUCH_VARIABLE"), "--token-env: the environment variable"),
    ],
)
def test_what_cannot_be_served_is_said_in_words(options, says, tmp_path: Path):
    ran = run_paper("serve", str(tmp_path / "run"), *options)
    assert (ran.code, ran.stdout) == (2, "")
    assert says in ran.stderr
