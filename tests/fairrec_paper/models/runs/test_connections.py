"""A served run and clients that are slow, many, gone or not meant for it: a real process."""

from __future__ import annotations

import json
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from fairrec_paper.models.server import is_this_host

SECONDS, MOST = 1.0, 6
LONG = 30.0
PATH = "/v2/models/sums/infer"


class Process(NamedTuple):
    port: int
    process: subprocess.Popen[str]

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=LONG)

    def ask(self, content: bytes | dict[str, Any], **more: Any) -> httpx.Response:
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        return httpx.post(f"http://127.0.0.1:{self.port}{PATH}", content=text, timeout=LONG, **more)

    def is_well(self) -> bool:
        """Whether it answers the next client, once slow ones had their time."""
        until = time.monotonic() + LONG
        while time.monotonic() < until:
            with suppress(httpx.TransportError):
                reply = self.ask(pairs(["u1"], ["i2"]))
                if reply.status_code == 200:
                    return reply.json()["outputs"][0]["data"] == [21.0]
            time.sleep(0.1)
        return False

    def most_kilobytes(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1])


def pairs(users: Any, items: Any, **more: Any) -> dict[str, Any]:
    inputs = [{"name": "user_id", "data": users}, {"name": "item_id", "data": items}]
    return {"inputs": inputs, **more}


@pytest.fixture(scope="module")
def served() -> Iterator[Process]:
    script = Path(__file__).with_name("served_sums.py")
    process = subprocess.Popen(
        [sys.executable, script, str(SECONDS), str(MOST)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield Process(int(process.stdout.readline()), process)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=LONG)[1]
    # whatever the clients of this file did
    assert "Traceback" not in said
    assert "Exception in ASGI" not in said


HEAD = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode()
WHOLE = json.dumps(pairs(["u1"], ["i2"])).encode()


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (b"", b""),
        (b"POST /v2", b"x"),
        (HEAD, b"X: y\r\n"),
        (HEAD + b"Content-Length: 5000\r\n\r\n", b" "),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
        (HEAD + b"Content-Length: %d\r\n\r\n" % len(WHOLE) + WHOLE + HEAD, b"X: y\r\n"),
    ],
    ids=["silence", "path", "headers", "body", "chunks", "chunk size", "second request"],
)
def test_a_slow_client_is_let_go(first, again, served: Process):
    started = time.monotonic()
    with served.connect() as peer, suppress(OSError):
        peer.sendall(first)
        peer.settimeout(0.1)
        while time.monotonic() - started < LONG:
            with suppress(TimeoutError):
                if not peer.recv(65_536):
                    break
            peer.sendall(again)
    assert time.monotonic() - started < LONG
    assert served.is_well()


def test_a_client_that_takes_no_reply_is_let_go(served: Process):
    n = 200_000
    content = json.dumps(pairs(["u1"] * n, ["i2"] * n)).encode()
    with socket.socket() as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        peer.settimeout(LONG)
        peer.connect(("127.0.0.1", served.port))
        peer.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(content) + content)
        started = time.monotonic()
        # it is let go when its port hears a reset, read or not
        while time.monotonic() - started < LONG:
            time.sleep(0.2)
            try:
                peer.sendall(b"x")
            except OSError:
                break
        assert time.monotonic() - started < LONG
    assert served.is_well()


def test_one_client_too_many_is_asked_to_come_again(served: Process):
    peers = [served.connect() for _ in range(4 * MOST)]
    try:
        peers[-1].sendall(HEAD + b"\r\n")
        assert peers[-1].recv(65_536).startswith(b"HTTP/1.1 503 ")
    finally:
        for peer in peers:
            peer.close()
    assert served.is_well()


@pytest.mark.parametrize("is_reset", [True, False])
@pytest.mark.parametrize("sent", [0, 20, len(HEAD), len(HEAD) + 30, 10**6])
def test_a_client_that_goes_away_leaves_no_trace(sent, is_reset, served: Process):
    n = 50_000
    content = json.dumps(pairs(["u1"] * n, ["i2"] * n)).encode()
    text = HEAD + b"Content-Length: %d\r\n\r\n" % len(content) + content
    with served.connect() as peer:
        peer.sendall(text[:sent] if sent < 10**6 else text)
        if is_reset:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert served.is_well()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        # each took gigabytes, or ended in code 500
        (pairs(["x" * 300_000, *["u1"] * 3000], ["i2"] * 3001), 400),
        (b'{"inputs": [' + b"[]," * 4_000_000 + b"[]]}", 413),
        (b" " * 17_000_000, 413),
        (b"[" * 900_000, 400),
        (b'{"inputs": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001, 400),
        ({"inputs": [{"name": ["user_id"], "data": []}]}, 400),
        ({"inputs": [{"name": {"a": 1}, "data": []}]}, 400),
        (pairs(["u1", 5], ["i2", "i3"]), 400),
        (pairs([[["u1"]]], ["i2"]), 400),
        (pairs([{"a": 1}], ["i2"]), 400),
        (pairs([10**30], ["i2"]), 400),
        (pairs([True], ["i2"]), 400),
        (pairs("u1", "i2"), 400),
        (pairs(["u1\0"], ["i2"]), 400),
        (pairs(["u1"], ["\U0001f600" * 9999]), 400),
        (b'{"inputs": "\xff"}', 400),
        (b"", 400),
    ],
)
def test_a_request_that_makes_no_sense_is_the_fault_of_the_client(content, code, served: Process):
    reply = served.ask(content)
    assert reply.status_code == code
    assert reply.json()["error"]
    assert len(reply.text) < 1000
    assert served.is_well()
    assert served.most_kilobytes() < 1_500_000


@pytest.mark.parametrize("line", ["Content-Length: -5", "Content-Length: many", "Host: b", "\0: x"])
def test_headers_that_are_none_are_refused(line, served: Process):
    with served.connect() as peer:
        peer.sendall(HEAD + line.encode() + b"\r\n\r\n")
        assert peer.recv(65_536).startswith(b"HTTP/1.1 400 ")
    assert served.is_well()


def test_a_page_of_another_site_cannot_ask(served: Process):
    assert served.ask(WHOLE, headers={"Host": "evil.example"}).status_code == 421
    assert served.ask(WHOLE, headers={"Host": f"localhost:{served.port}"}).status_code == 200


@pytest.mark.parametrize(
    ("given", "is_ours"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1:8080", True),
        ("192.168.1.5:8080", True),
        ("[::1]:8080", True),
        ("[::1]", True),
        ("LOCALHOST:8080", True),
        ("ranker.local:8080", True),
        ("", False),
        (":80", False),
        ("evil.example", False),
        ("127.0.0.1.evil.example:80", False),
        ("localhost.evil.example", False),
        ("evil.example:127.0.0.1", False),
        ("[127.0.0.1", False),
        ("evil.example]:80", False),
        ("127.0.0.1:80:90", False),
    ],
)
def test_hosts_are_addresses_and_names_of_this_machine(given, is_ours):
    assert is_this_host(given, "ranker.local") == is_ours
