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
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from fairrec.core.errors import InputError, plain
from fairrec.core.threads import available_threads
from fairrec.core.version import __version__
from fairrec_paper.models.runs.asked_pairs import (
    MOST_BYTES,
    MOST_DROPPED,
    RefusedError,
    asked_pairs,
)
from fairrec_paper.models.runs.connections import is_this_host
from fairrec_paper.models.runs.run import Run

OUTPUT = "score"


def serving_app(run: Run, name: str, token: str = "", host: str = "") -> Starlette:
    """The app that answers for a run.

    Parameters
    ----------
    name : of the model in addresses
    token : asked for as a bearer token, where there is one
    host : the name it is served at, beside addresses and localhost
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
    return Starlette(routes=routes, middleware=[Middleware(_KnownHosts, host=host)])


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
            {"name": name, "datatype": datatype, "shape": [-1]}
            for name, datatype in self._datatypes.items()
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
        except RefusedError as refused:
            return _reply({"error": refused.words}, refused.code)
        except ClientDisconnect:
            # nobody is there to be answered
            return Response(status_code=400)
        return Response(answer, media_type="application/json")

    def _check_token(self, request: Request) -> None:
        given = request.headers.get("authorization", "").encode()
        wanted = f"Bearer {self._token}".encode()
        if self._token and not hmac.compare_digest(given, wanted):
            raise RefusedError(401, "a bearer token is needed, or this is not the right one")

    def _score(self, content: bytes) -> bytes:
        asked = asked_pairs(content, self._datatypes)
        try:
            scores = self._run.score(asked.users, asked.items)
        except InputError as error:
            raise RefusedError(400, str(error)) from error
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
        if asked.request_id is not None:
            reply["id"] = asked.request_id
        return orjson.dumps(reply, option=orjson.OPT_SERIALIZE_NUMPY)


def _datatype(ids: pl.Series) -> str:
    return "INT64" if ids.dtype.is_integer() else "BYTES"


async def _body(request: Request) -> bytes:
    """The body of a request, no longer than is reasonable."""
    too_long = RefusedError(
        413, f"the request is longer than {MOST_BYTES:,} bytes. Ask for fewer pairs at once"
    )
    if int(request.headers.get("content-length", "0")) > MOST_DROPPED:
        raise too_long
    content, n_read = bytearray(), 0
    async for chunk in request.stream():
        n_read += len(chunk)
        if n_read > MOST_DROPPED:
            raise too_long
        if n_read <= MOST_BYTES:
            content += chunk
    if n_read > MOST_BYTES:
        raise too_long
    return bytes(content)


def _reply(body: Mapping[str, Any], code: int = 200) -> Response:
    # what is left of a request that was refused is not read
    headers = {"Connection": "close"} if code >= 400 else None
    return Response(orjson.dumps(body), code, headers, media_type="application/json")


class _KnownHosts:
    """Lets requests pass that were meant for this server."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app, self._host = app, host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        given = Headers(scope=scope).get("host", "")
        answer: ASGIApp = self._app
        if not is_this_host(given, self._host):
            words = f"this server is not {plain(given)}. Ask it by its address, or as localhost"
            answer = _reply({"error": words}, 421)
        await answer(scope, receive, send)
