"""What model servers reply: two as recorded, two in the form that is documented.

MLServer 1.7.1 and KServe 0.21.0 ran with the models of docs/black-box.md, and these are their
replies. Triton and TensorFlow Serving did not run: their replies are composed for such a model, in
the form of Triton's pages on its protocol and TensorFlow Serving's page on its RESTful API. The
status and the error of the latter are printed there, for a model of another name.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import fairrec
from fairrec.core.errors import ScoringError


class Reply(NamedTuple):
    code: int
    kind: str
    text: str


RECORDED = json.loads(Path(__file__).with_name("model_servers.json").read_text("utf-8"))
PROTOCOLS = dict.fromkeys(("MLServer", "KServe", "Triton"), ("oip", "/v2/models/"))
PROTOCOLS |= {"TensorFlow Serving": ("tfserving", "/v1/models/")}


def replies_of(server: str) -> dict[str, Reply]:
    return {request: Reply(*reply) for request, reply in RECORDED[server].items()}


SCORES = np.array([0.07920792079207921, 0.1782178217821782])


@contextmanager
def replying(replies: Mapping[str, Reply], asked: list[Any]) -> Iterator[str]:
    """The address of a server that gives these replies, and notes what it is sent."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            reply = replies[f"{self.command} {self.path}"]
            self.send_response(reply.code)
            if reply.kind:
                self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(reply.text.encode())))
            self.end_headers()
            self.wfile.write(reply.text.encode())

        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.do_GET()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


COLUMNS = {name: np.array([7, 8]) for name in ("user_id", "item_id")}


@pytest.mark.parametrize("name", RECORDED)
def test_a_model_is_found_asked_and_read(name):
    protocol, path = PROTOCOLS[name]
    asked: list[Any] = []
    with replying(replies_of(name), asked) as server:
        model = fairrec.Endpoint(f"{server}{path}ranker", protocol=protocol, retries=0)
        assert model.metadata.is_ready
        assert model.metadata.model == "ranker"
        assert model.metadata.version == {"Triton": "1", "TensorFlow Serving": "123"}.get(name, "")
        assert [one.name for one in model.metadata.inputs] == ["user_id", "item_id"]
        scores = model.answer({one.name: one.values for one in model.bind(COLUMNS)})
        model.close()
    np.testing.assert_allclose(scores, SCORES, rtol=1e-6)
    (body,) = asked
    if protocol == "tfserving":
        assert body["inputs"] == {"user_id": ["7", "8"], "item_id": ["7", "8"]}
    else:
        assert [one["data"] for one in body["inputs"]] == [["7", "8"], ["7", "8"]]
        shape = [2, 1] if name == "Triton" else [2]
        assert [one["shape"] for one in body["inputs"]] == [shape, shape]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("MLServer", "there is no model 'nobody'"),
        ("KServe", "there is no model 'nobody'"),
        ("Triton", "HTTP 400 Bad Request"),
        ("TensorFlow Serving", "Servable not found for request: Latest(nobody)"),
    ],
)
def test_a_model_that_is_not_there_is_said_in_their_words_or_ours(name, says):
    protocol, path = PROTOCOLS[name]
    with replying(replies_of(name), []) as server:
        model = fairrec.Endpoint(f"{server}{path}nobody", protocol=protocol, retries=0)
        with pytest.raises(ScoringError) as caught:
            model.answer({one.name: one.values for one in model.bind(COLUMNS)})
        model.close()
    assert says in str(caught.value)
