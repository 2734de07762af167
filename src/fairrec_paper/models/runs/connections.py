"""Connections to a served run: not too many, and none that keeps others waiting."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

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
