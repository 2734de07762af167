"""A trained run behind the Open Inference Protocol, version 2: a small ASGI app."""

from __future__ import annotations

import hmac
from asyncio import Semaphore
from typing import Any

import numpy as np
import polars as pl
import torch
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, plain
from fairrec.core.threads import available_threads
from fairrec_paper.models.run import Run

OUTPUT = "score"
LOCAL = ("127.0.0.1", "localhost")


class InputTensor(BaseModel):
    """One input of a request."""

    name: str
    data: list[Any]


class InferRequest(BaseModel):
    """What is asked for: scores of pairs of user and item."""

    inputs: list[InputTensor]
    id: str | None = None


def serving_app(run: Run, token: str = "", host: str = LOCAL[0]) -> Starlette:
    """The app that answers for a run.

    Parameters
    ----------
    token : asked for as a bearer token, where there is one
    host : where it listens; at an address of this machine alone, it answers to no other name, so
        that no web page of another site can ask it through a browser
    """
    name = run.record.model
    # now: the file may be another one by the time it is asked for
    version = run.version()
    # one call is scored by one thread, and as many calls as there are cores at once: quicker
    # than calls that share all cores and wait for each other
    torch.set_num_threads(1)
    at_once = Semaphore(available_threads())
    datatypes = {
        "user_id": _datatype(run.users["user_id"]),
        "item_id": _datatype(run.items["item_id"]),
    }

    async def report_ready(request: Request) -> Response:
        return JSONResponse({"name": name, "ready": True})

    async def describe_model(request: Request) -> Response:
        return JSONResponse(
            {
                "name": name,
                "versions": [version],
                "platform": f"fairrec_{name}",
                "inputs": [
                    {"name": column, "datatype": datatype, "shape": [-1]}
                    for column, datatype in datatypes.items()
                ],
                "outputs": [{"name": OUTPUT, "datatype": "FP32", "shape": [-1]}],
            }
        )

    async def infer(request: Request) -> Response:
        given = request.headers.get("authorization", "").encode()
        if token and not hmac.compare_digest(given, f"Bearer {token}".encode()):
            return JSONResponse({"error": "a bearer token is needed, or this one is wrong"}, 401)
        content = await request.body()
        try:
            async with at_once:
                return JSONResponse(await run_in_threadpool(score, content))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            return JSONResponse({"error": f"{place}: {plain(first['msg'], 300)}"}, 400)
        except InputError as error:
            return JSONResponse({"error": str(error)}, 400)

    def score(content: bytes) -> dict[str, Any]:
        asked = InferRequest.model_validate_json(content)
        users, items = (_ids(asked, column, kind) for column, kind in datatypes.items())
        if len(users) != len(items):
            raise InputError(f"{len(users)} user ids, but {len(items)} item ids")
        scores = run.score(users, items).astype(np.float32).tolist()
        output = {"name": OUTPUT, "datatype": "FP32", "shape": [len(scores)], "data": scores}
        reply = {"model_name": name, "model_version": version, "outputs": [output]}
        return reply if asked.id is None else {**reply, "id": asked.id}

    address = f"/v2/models/{name}"
    routes = [
        Route(address, describe_model),
        Route(f"{address}/ready", report_ready),
        Route(f"{address}/infer", infer, methods=["POST"]),
    ]
    hosts = [*LOCAL] if host in LOCAL else ["*"]
    return Starlette(
        routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts)]
    )


def _datatype(ids: pl.Series) -> str:
    return "INT64" if ids.dtype.is_integer() else "BYTES"


def _ids(asked: InferRequest, name: str, datatype: str) -> AnyArray:
    """The ids of one input, of the type that the run has."""
    found = [one.data for one in asked.inputs if one.name == name]
    if len(found) != 1:
        raise InputError(f'there must be one input "{name}"')
    kind, dtype = ("i", np.int64) if datatype == "INT64" else ("U", object)
    try:
        ids = np.array(found[0]).ravel()
    except ValueError:
        ids = np.array([None])
    if len(ids) and ids.dtype.kind != kind:
        raise InputError(f'the input "{name}" must be a list of {datatype}')
    return ids.astype(dtype)
