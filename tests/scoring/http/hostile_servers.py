"""Servers that reply with bytes of a test's own, on raw sockets."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Act = Callable[[socket.socket], None]
OK = b"HTTP/1.1 200 OK\r\n"
JSON = b"Content-Type: application/json\r\n"


def say(*parts: bytes) -> Act:
    """Say this, and end the connection."""
    return lambda peer: peer.sendall(b"".join(parts))


def replied(code: int, more: bytes = b"", body: bytes = b"{}") -> bytes:
    return (
        b"HTTP/1.1 %d So\r\n" % code
        + JSON
        + more
        + b"Content-Length: %d\r\n\r\n" % len(body)
        + body
    )


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
