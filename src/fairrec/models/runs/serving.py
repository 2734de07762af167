"""A trained run behind the Open Inference Protocol, version 2: a small ASGI app."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
import polars as pl
import torch
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, plain
from fairrec.core.threads import available_threads
from fairrec.core.version import __version__
from fairrec.models.runs.run import Run

MOST_BYTES = 64_000_000
OUTPUT = "score"


def serving_app(run: Run, name: str, token: str = "") -> Starlette:
    """The app that answers for a run.

    Parameters
    ----------
    name : of the model in addresses
    token : asked for as a bearer token, where there is one
    """
    served = _Served(run, name, token)
    routes = [
        Route("/v2", served.server),
        Route("/v2/health/live", served.ready),
        Route("/v2/health/ready", served.ready),
    ]
    model = f"/v2/models/{name}"
    for address in (model, f"{model}/versions/{served.version}"):
        routes += [
            Route(address, served.metadata),
            Route(f"{address}/ready", served.ready),
            Route(f"{address}/infer", served.infer, methods=["POST"]),
        ]
    return Starlette(routes=routes)


class _RefusedError(Exception):
    """A request that gets an answer other than scores."""

    def __init__(self, code: int, words: str) -> None:
        self.code, self.words = code, words


class _Served:
    """A run and how to answer for it."""

    def __init__(self, run: Run, name: str, token: str) -> None:
        self._run, self._name, self._token = run, name, token
        # now: the file may be another one by the time somebody asks
        self.version = run.version()
        self._inputs = {"user_id": run.users["user_id"], "item_id": run.items["item_id"]}
        # one call is scored by one thread, and as many calls as there are cores at once: quicker
        # than calls that share all cores and wait for each other
        torch.set_num_threads(1)
        self._limiter: CapacityLimiter | None = None

    async def server(self, request: Request) -> Response:
        """What this server is."""
        return _reply({"name": "fairrec", "version": __version__, "extensions": []})

    async def ready(self, request: Request) -> Response:
        """The run is loaded before the server starts."""
        return _reply({"live": True, "ready": True})

    async def metadata(self, request: Request) -> Response:
        """The model's inputs and outputs."""
        inputs = [
            {"name": name, "datatype": _datatype(ids), "shape": [-1]}
            for name, ids in self._inputs.items()
        ]
        return _reply(
            {
                "name": self._name,
                "versions": [self.version],
                "platform": f"fairrec_{self._run.record.model}",
                "inputs": inputs,
                "outputs": [{"name": OUTPUT, "datatype": "FP32", "shape": [-1]}],
            }
        )

    async def infer(self, request: Request) -> Response:
        """Scores for pairs of user and item."""
        try:
            self._check_token(request)
            content = await _body(request)
            if self._limiter is None:
                self._limiter = CapacityLimiter(available_threads())
            answer = await run_sync(self._score, content, limiter=self._limiter)
        except _RefusedError as refused:
            return _reply({"error": refused.words}, refused.code)
        return Response(answer, media_type="application/json")

    def _check_token(self, request: Request) -> None:
        given = request.headers.get("authorization", "").encode()
        wanted = f"Bearer {self._token}".encode()
        if self._token and not hmac.compare_digest(given, wanted):
            raise _RefusedError(401, "a bearer token is needed, or this is not the right one")

    def _score(self, content: bytes) -> bytes:
        try:
            asked = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise _RefusedError(400, f"the request is no JSON: {plain(error)}") from error
        if not isinstance(asked, dict) or not isinstance(asked.get("inputs"), list):
            raise _RefusedError(400, 'the request has no list of "inputs"')
        given = {one.get("name"): one for one in asked["inputs"] if isinstance(one, dict)}
        users, items = (self._ids(given, name) for name in self._inputs)
        if len(users) != len(items):
            raise _RefusedError(400, f"{len(users)} user ids, but {len(items)} item ids")
        try:
            scores = self._run.score(users, items)
        except InputError as error:
            raise _RefusedError(400, str(error)) from error
        output = {
            "name": OUTPUT,
            "datatype": "FP32",
            "shape": [len(scores)],
            "data": scores.astype(np.float32),
        }
        reply: dict[str, Any] = {
            "model_name": self._name,
            "model_version": self.version,
            "outputs": [output],
        }
        if isinstance(asked.get("id"), str):
            reply["id"] = asked["id"]
        return orjson.dumps(reply, option=orjson.OPT_SERIALIZE_NUMPY)

    def _ids(self, given: Mapping[Any, Any], name: str) -> AnyArray:
        """The ids of one input, of the type that the run has."""
        wanted = _datatype(self._inputs[name])
        data = given[name].get("data") if name in given else None
        if not isinstance(data, list):
            raise _RefusedError(400, f'there is no input "{name}" with a list of "data"')
        try:
            ids = np.array(data)
        except ValueError:
            ids = np.array(data, dtype=object)
        is_right = ids.dtype.kind == ("i" if wanted == "INT64" else "U") and ids.ndim <= 2
        if len(data) and not is_right:
            raise _RefusedError(400, f'the input "{name}" must be a list of {wanted}')
        return ids.reshape(-1) if wanted == "INT64" else np.array(data, dtype=object).reshape(-1)


def _datatype(ids: pl.Series) -> str:
    return "INT64" if ids.dtype.is_integer() else "BYTES"


async def _body(request: Request) -> bytes:
    """The body of a request, no longer than is reasonable."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MOST_BYTES:
            raise _RefusedError(413, f"the request is longer than {MOST_BYTES:,} bytes")
    return bytes(content)


def _reply(body: Mapping[str, Any], code: int = 200) -> Response:
    return Response(orjson.dumps(body), code, media_type="application/json")
