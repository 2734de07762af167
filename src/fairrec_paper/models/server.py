"""A trained run behind the Open Inference Protocol, version 2: a small ASGI app."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import polars as pl
import torch
import uvicorn
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, plain
from fairrec.core.threads import available_threads
from fairrec.core.version import __version__
from fairrec_paper.models.run import Run

MOST_CONNECTIONS = 64
REQUEST_SECONDS = 30.0
"""For a request to come in whole, and for a part of a reply to be taken."""
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)
_HOST = re.compile(r"(\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^:\[\]]+))(:[0-9]+)?")


class Connection(H11Protocol):
    """Ends with a client that is slow, at whichever step, or that is one too many."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.write(_BUSY)
            transport.close()
        else:
            self._within_time()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._within_time()

    def pause_writing(self) -> None:
        """Wait until the client has taken what is on its way."""
        super().pause_writing()
        self._within_time()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def _within_time(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(REQUEST_SECONDS, self._end_if_slow)

    def _end_if_slow(self) -> None:
        cycle = self.cycle
        is_asked = cycle is not None and not cycle.response_complete and not cycle.more_body
        if not is_asked or self.flow.write_paused:
            self.transport.abort()


def server_of(app: ASGIApp) -> uvicorn.Server:
    """The server that answers by an app."""
    return uvicorn.Server(
        uvicorn.Config(
            app, http=Connection, ws="none", log_config=None, access_log=False, lifespan="off"
        )
    )


def is_this_host(given: str, served_at: str) -> bool:
    """Whether a request was meant for this server, by its header `Host`.

    A page of another site can make a browser ask this machine under that site's name, but under
    no other: addresses and names of this machine are safe.

    >>> [is_this_host(host, "ranker.local") for host in ("127.0.0.1:80", "[::1]", "evil.example")]
    [True, True, False]
    """
    found = _HOST.fullmatch(given.strip().lower())
    if found is None:
        return False
    host = found["address"] or found["name"]
    with suppress(ValueError):
        ipaddress.ip_address(host)
        return True
    return host in ("localhost", served_at.lower())


MOST_BYTES = 16_000_000
MOST_DROPPED = 4 * MOST_BYTES
"""Bytes of a longer request that are read and dropped: who still sends does not hear a reply."""
MOST_VALUES = 1_000_000
"""Lists, objects and commas of a request; each costs some 100 bytes once it is read."""


class RefusedError(Exception):
    """A request that gets an answer other than scores."""

    def __init__(self, code: int, words: str) -> None:
        self.code, self.words = code, words


@dataclass(frozen=True, slots=True)
class AskedPairs:
    """The pairs to score, and the id that the client gave its request."""

    users: AnyArray
    items: AnyArray
    request_id: str | None


def asked_pairs(content: bytes, datatypes: Mapping[str, str]) -> AskedPairs:
    """What a request asks for.

    Parameters
    ----------
    datatypes : of the inputs `user_id` and `item_id`, INT64 or BYTES
    """
    if sum(map(content.count, (b"[", b"{", b","))) > MOST_VALUES:
        raise RefusedError(
            413, f"the request has more than {MOST_VALUES:,} values. Ask for fewer pairs at once"
        )
    try:
        asked = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise RefusedError(400, f"the request is no JSON: {plain(error)}") from error
    if not isinstance(asked, dict) or not isinstance(asked.get("inputs"), list):
        raise RefusedError(400, 'the request has no list of "inputs"')
    users, items = (_ids(asked["inputs"], name, datatypes[name]) for name in datatypes)
    if len(users) != len(items):
        raise RefusedError(400, f"{len(users)} user ids, but {len(items)} item ids")
    request_id = asked.get("id")
    return AskedPairs(users, items, request_id if isinstance(request_id, str) else None)


def _ids(inputs: list[Any], name: str, datatype: str) -> AnyArray:
    """The ids of one input, of the type that the run has."""
    found = [one for one in inputs if isinstance(one, dict) and one.get("name") == name]
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
