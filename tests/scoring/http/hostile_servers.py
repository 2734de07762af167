"""Servers that hold a call up, flood it or break the protocol, on raw sockets.

Each is a function of a connected socket whose request has been read. `hostile_server` cuts them
off at the end of a test; what is to go on goes on for `LONG` seconds otherwise.
"""

from __future__ import annotations

import gzip
import itertools
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

LONG = 60.0
"""Seconds that a server goes on, far beyond any timeout of a test."""
STEP = 0.05
"""Seconds between two parts of what is dripped: never silent for as long as a timeout."""

Act = Callable[[socket.socket], None]
OK = b"HTTP/1.1 200 OK\r\n"
JSON = b"Content-Type: application/json\r\n"
CHUNKED = OK + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
BODY = b'{"scores": [0.5]}'
BOMB = gzip.compress(b" " * 50_000_000, 1)


def sized(n: int) -> bytes:
    return OK + JSON + b"Content-Length: %d\r\n\r\n" % n


def say(*parts: bytes) -> Act:
    """Say this, and end the connection."""
    return lambda peer: peer.sendall(b"".join(parts))


def hang(*parts: bytes) -> Act:
    """Say this, and nothing more."""

    def act(peer: socket.socket) -> None:
        peer.sendall(b"".join(parts))
        time.sleep(LONG)

    return act


def drip(first: bytes, again: Iterable[bytes], step: float = STEP) -> Act:
    """Say this, then something every now and then."""

    def act(peer: socket.socket) -> None:
        peer.sendall(first)
        for part in again:
            peer.sendall(part)
            time.sleep(step)

    return act


def drip_bytes(text: bytes, first: bytes = b"") -> Act:
    return drip(first, [bytes([byte]) for byte in text + b" " * 5000])


def flood(first: bytes, again: bytes) -> Act:
    """Say this, then the same without end as quickly as it is taken."""

    def act(peer: socket.socket) -> None:
        peer.sendall(first)
        block = again * max(1, 65_536 // len(again))
        until = time.monotonic() + LONG
        while time.monotonic() < until:
            peer.sendall(block)

    return act


def reset(*parts: bytes) -> Act:
    """Say this, and break off without a farewell."""

    def act(peer: socket.socket) -> None:
        peer.sendall(b"".join(parts))
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return act


def for_ever(part: bytes) -> Iterator[bytes]:
    return itertools.repeat(part)


def chunk(text: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(text), text)


def replied(code: int, more: bytes = b"", body: bytes = b"{}") -> bytes:
    return (
        b"HTTP/1.1 %d So\r\n" % code
        + JSON
        + more
        + b"Content-Length: %d\r\n\r\n" % len(body)
        + body
    )


def with_length(length: bytes) -> bytes:
    return OK + JSON + b"Content-Length: " + length + b"\r\n\r\n"


ACTS: dict[str, Act] = {
    # silence
    "nothing": hang(),
    "reset at once": reset(),
    "headers and no body": hang(sized(100)),
    "half a body": hang(sized(100), b'{"scores": ['),
    "half a chunk": hang(CHUNKED, b"64\r\n{"),
    "no end of trailers": hang(CHUNKED, chunk(BODY), b"0\r\nA: b\r\n"),
    "body without length": hang(OK, JSON, b"\r\n", BODY),
    # dripped
    "dripped status line": drip_bytes(OK),
    "dripped headers": drip(OK, (b"X-%d: y\r\n" % n for n in itertools.count())),
    "dripped body": drip_bytes(BODY, sized(5000)),
    "dripped chunks": drip(CHUNKED, for_ever(chunk(b" "))),
    "dripped error": drip(b"HTTP/1.1 400 Bad\r\nContent-Length: 900\r\n\r\n", for_ever(b"x")),
    "slowly dripped body": drip(sized(5000), for_ever(b" "), 0.3),
    # informational replies
    "100 for ever": drip(b"", for_ever(b"HTTP/1.1 100 Continue\r\n\r\n")),
    "100 as quickly as taken": flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "101": hang(b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"),
    # floods
    "a header without end": flood(OK + b"X: ", b"x"),
    "a body without end": flood(OK + JSON + b"\r\n", b" "),
    "chunks without end": flood(CHUNKED, chunk(b" ")),
    "a chunk extension without end": flood(CHUNKED + b"5;", b"x"),
    "an error without end": flood(b"HTTP/1.1 400 Bad\r\n\r\n", b"x"),
    "noise": flood(b"", bytes(range(256))),
    # compressed
    "a gzip bomb": say(replied(200, b"Content-Encoding: gzip\r\n", BOMB)),
    "an error as gzip bomb": say(replied(500, b"Content-Encoding: gzip\r\n", BOMB)),
    # lengths that are wrong
    "a negative length": hang(with_length(b"-5"), BODY),
    "a length in words": hang(with_length(b"many"), BODY),
    "two lengths": hang(OK, JSON, b"Content-Length: 5\r\nContent-Length: 17\r\n\r\n", BODY),
    "a chunk of negative size": hang(CHUNKED, b"-5\r\nhello\r\n"),
    "cut off": say(sized(100), BODY),
    # redirects, waits and codes
    "a redirect to itself": say(replied(302, b"Location: /\r\n")),
    "a redirect to noise": say(replied(302, b"Location: http://[::1\xff/\x01\r\n")),
    "a redirect to a file": say(replied(307, b"Location: file:///etc/passwd\r\n")),
    "to wait for ever": say(replied(429, b"Retry-After: " + b"9" * 400 + b"\r\n")),
    "code 0": hang(b"HTTP/1.1 000 None\r\n\r\n"),
    "code 304": hang(b"HTTP/1.1 304 Same\r\n\r\n"),
    # other protocols
    "HTTP/1.0 that stays": hang(b"HTTP/1.0 200 OK\r\n", JSON, b"\r\n", BODY),
    "SSH": hang(b"SSH-2.0-OpenSSH_9.6\r\n"),
    # JSON that is large when it is read
    "deep JSON": say(replied(200, body=b"[" * 900_000)),
    "a long number": say(replied(200, body=b'{"scores": [' + b"9" * 900_000 + b"]}")),
    "JSON that is not Unicode": say(replied(200, body=b'{"scores": ["\xff\xfe"]}')),
}


@contextmanager
def hostile_server(act: Act, reads_first: bool = True) -> Iterator[str]:
    """The address of a server that does this to every connection.

    Parameters
    ----------
    reads_first : whether a request is read before anything is done
    """
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    peers: list[socket.socket] = []

    def serve(peer: socket.socket) -> None:
        with suppress(OSError), peer:
            if reads_first:
                read_request(peer)
            act(peer)

    def accept() -> None:
        with suppress(OSError):
            while True:
                peer, _ = listener.accept()
                peers.append(peer)
                threading.Thread(target=serve, args=(peer,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/score"
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for peer in peers:
            with suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)


def read_request(peer: socket.socket) -> bytes:
    """Read a request to its end, and give its head in lower case."""
    head = b""
    with peer.makefile("rb") as text:
        length = 0
        while (line := text.readline().lower()) not in (b"", b"\r\n"):
            head += line
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        text.read(length)
    return head


def handshakes() -> dict[str, Act]:
    """Servers of https that never come to an end of their handshake."""
    record = b"\x16\x03\x03"
    return {
        "no handshake": hang(),
        "a dripped record": drip(record + b"\x40\x00", for_ever(b"\x02")),
        "a dripped header": drip(b"", [bytes([one]) for one in record + b"\x40\x00"] * 1000, 0.1),
        "empty records": drip(b"", for_ever(record + b"\x00\x00")),
        "warnings for ever": drip(b"", for_ever(b"\x15\x03\x03\x00\x02\x01\x5a")),
        "plain HTTP": say(replied(200, body=BODY)),
        "noise": flood(b"", b"\xff\x00"),
    }
