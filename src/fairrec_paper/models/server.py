"""A trained run behind the Open Inference Protocol, version 2: a small ASGI app."""

from __future__ import annotations

import hmac
import json
from asyncio import Semaphore
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import torch
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, plain
from fairrec.core.threads import available_threads
from fairrec.core.version import __version__
from fairrec_paper.models.run import Run

OUTPUT = "score"
MOST_BYTES = 16_000_000
LOCAL = ("127.0.0.1", "localhost")


class RefusedError(Exception):
    """A request that gets an answer other than scores."""

    def __init__(self, code: int, words: str) -> None:
        self.code, self.words = code, words


def serving_app(run: Run, name: str, token: str = "", host: str = LOCAL[0]) -> Starlette:
    """The app that answers for a run.

    Parameters
    ----------
    name : of the model in addresses
    token : asked for as a bearer token, where there is one
    host : where it listens; at an address of this machine alone, it answers to no other name, so
        that no web page of another site can ask it through a browser
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
    hosts = [*LOCAL] if host in LOCAL else ["*"]
    return Starlette(
        routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts)]
    )


class _Served:
    """A run and how to answer for it."""

    def __init__(self, run: Run, name: str, token: str) -> None:
        self._run, self._name, self._token = run, name, token
        # now: the file may be another one by the time somebody asks
        self.version = run.version()
        self._datatypes = {
            "user_id": _datatype(run.users["user_id"]),
            "item_id": _datatype(run.items["item_id"]),
        }
        # one call is scored by one thread, and as many calls as there are cores at once: quicker
        # than calls that share all cores and wait for each other
        torch.set_num_threads(1)
        self._at_once = Semaphore(available_threads())

    async def server(self, request: Request) -> Response:
        """What this server is."""
        return JSONResponse({"name": "fairrec", "version": __version__, "extensions": []})

    async def ready(self, request: Request) -> Response:
        """The run is loaded before the server starts."""
        return JSONResponse({"live": True, "ready": True})

    async def metadata(self, request: Request) -> Response:
        """The model's inputs and outputs."""
        inputs = [
            {"name": name, "datatype": datatype, "shape": [-1]}
            for name, datatype in self._datatypes.items()
        ]
        return JSONResponse(
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
            async with self._at_once:
                answer = await run_in_threadpool(self._score, content)
        except RefusedError as refused:
            return JSONResponse({"error": refused.words}, refused.code)
        except ClientDisconnect:
            # nobody is there to be answered
            return Response(status_code=400)
        return Response(answer, media_type="application/json")

    def _check_token(self, request: Request) -> None:
        given = request.headers.get("authorization", "").encode()
        wanted = f"Bearer {self._token}".encode()
        if self._token and not hmac.compare_digest(given, wanted):
            raise RefusedError(401, "a bearer token is needed, or this is not the right one")

    def _score(self, content: bytes) -> str:
        try:
            asked = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise RefusedError(400, f"the request is no JSON: {plain(error)}") from error
        if not isinstance(asked, dict) or not isinstance(asked.get("inputs"), list):
            raise RefusedError(400, 'the request has no list of "inputs"')
        users, items = (_ids(asked["inputs"], name, kind) for name, kind in self._datatypes.items())
        if len(users) != len(items):
            raise RefusedError(400, f"{len(users)} user ids, but {len(items)} item ids")
        try:
            scores = self._run.score(users, items)
        except InputError as error:
            raise RefusedError(400, str(error)) from error
        output = {
            "name": OUTPUT,
            "datatype": "FP32",
            "shape": [len(scores)],
            "data": scores.astype(np.float32).tolist(),
        }
        reply: dict[str, Any] = {
            "model_name": self._name,
            "model_version": self.version,
            "outputs": [output],
        }
        if isinstance(asked.get("id"), str):
            reply["id"] = asked["id"]
        return json.dumps(reply)


def _datatype(ids: pl.Series) -> str:
    return "INT64" if ids.dtype.is_integer() else "BYTES"


async def _body(request: Request) -> bytes:
    """The body of a request, no longer than is reasonable."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MOST_BYTES:
            raise RefusedError(
                413,
                f"the request is longer than {MOST_BYTES:,} bytes. Ask for fewer pairs at once",
            )
    return bytes(content)


def _ids(inputs: list[Any], name: str, datatype: str) -> AnyArray:
    """The ids of one input, of the type that the run has."""
    found = [one for one in inputs if isinstance(one, Mapping) and one.get("name") == name]
    if len(found) != 1 or not isinstance(data := found[0].get("data"), list):
        raise RefusedError(400, f'there must be one input "{name}" with a list of "data"')
    if data and isinstance(data[0], list):
        is_even = all(isinstance(row, list) and len(row) == len(data[0]) for row in data)
        data = [one for row in data for one in row] if is_even else [None]
    # looked at one by one: as one array, the longest text would make all as long
    wrong = RefusedError(400, f'the input "{name}" must be a list of {datatype}')
    if not {type(one) for one in data} <= {int if datatype == "INT64" else str}:
        raise wrong
    try:
        return np.array(data, dtype=np.int64 if datatype == "INT64" else object)
    except OverflowError:
        raise wrong from None
