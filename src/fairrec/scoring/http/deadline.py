"""Connections that end at a moment: whatever a server does, a call is over by then."""

from __future__ import annotations

import queue
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore


class BackendWithDeadline(httpcore.NetworkBackend):
    """Opens connections; what is called a timeout is the moment of `time.monotonic` to end at.

    A timeout of a library is for one read or write, so that a server which sends a byte now and
    then is never late. A moment stays where it is, from the name of the host to the last byte.
    """

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Find the host and try its addresses, one after the other."""
        with _said_as(httpcore.ConnectTimeout, httpcore.ConnectError):
            failed: OSError | None = None
            for family, kind, protocol, _, address in _addresses(host, port, timeout):
                peer = socket.socket(family, kind, protocol)
                try:
                    peer.settimeout(_left(timeout))
                    peer.connect(address)
                    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    return StreamWithDeadline(peer)
                except OSError as error:
                    peer.close()
                    failed = error
            raise failed or OSError("the host has no address")


class StreamWithDeadline(httpcore.NetworkStream):
    """A connection of which each step takes no longer than is left.

    Attributes
    ----------
    has_replied : whether anything was read after what was written last
    """

    def __init__(self, peer: socket.socket) -> None:
        self._peer = peer
        self.has_replied = False

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has come, as soon as something has."""
        with _said_as(httpcore.ReadTimeout, httpcore.ReadError):
            self._peer.settimeout(_left(timeout))
            self.has_replied = True
            return self._peer.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it; a server may take it in as slowly as it likes to send."""
        rest = memoryview(buffer)
        self.has_replied = False
        with _said_as(httpcore.WriteTimeout, httpcore.WriteError):
            while rest:
                self._peer.settimeout(_left(timeout))
                rest = rest[self._peer.send(rest) :]

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Shake hands; Python takes the time of a socket for the handshake as a whole."""
        with _said_as(httpcore.ConnectTimeout, httpcore.ConnectError):
            try:
                self._peer.settimeout(_left(timeout))
                secured = ssl_context.wrap_socket(self._peer, server_hostname=server_hostname)
            except BaseException:
                self.close()
                raise
        return StreamWithDeadline(secured)

    def get_extra_info(self, info: str) -> Any:
        """Whether something has come, which tells a kept connection that was closed."""
        if info == "is_readable":
            if self._peer.fileno() < 0:
                return True
            waiting = select.poll()
            waiting.register(self._peer, select.POLLIN)
            return bool(waiting.poll(0))
        return self._peer if info == "socket" else None

    def close(self) -> None:
        """Let go of it."""
        self._peer.close()


@contextmanager
def _said_as(late: type[Exception], failed: type[Exception]) -> Iterator[None]:
    """Errors of sockets as those that the pool of connections knows."""
    try:
        yield
    except TimeoutError as error:
        raise late(str(error)) from error
    except OSError as error:
        raise failed(str(error)) from error


def _left(moment: float | None) -> float | None:
    """Seconds until a moment; an error once it is past."""
    if moment is None:
        return None
    left = moment - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _addresses(host: str, port: int, until: float | None) -> list[Any]:
    """The addresses of a host; the system's search knows no limit, and goes on by itself."""
    answers: queue.SimpleQueue[list[Any] | Exception] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            answers.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    threading.Thread(target=look_up, daemon=True).start()
    try:
        found = answers.get(timeout=_left(until))
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(found, Exception):
        raise OSError(str(found)) from found
    return found
