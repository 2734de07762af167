"""The last step of a request, where its secrets are put in and its deadline is set."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpcore
import httpx

from fairrec.scoring.http.deadline import BackendWithDeadline, StreamWithDeadline
from fairrec.scoring.http.trust import trusted

CONNECT_SECONDS = 10.0
"""A host that is not there is not waited for as long as one that is at work."""


class TransportWithSecrets(httpx.BaseTransport):
    """Adds query and token on the way out; the client, its log and its errors never hold them.

    Parameters
    ----------
    timeout : seconds for a call as a whole, from the name of the host to the last byte
    is_encrypted : whether certificates will be asked for
    """

    def __init__(
        self, timeout: float, n_connections: int, is_encrypted: bool, query: str, token: str
    ) -> None:
        self._timeout = timeout
        self._query = query.encode()
        self._headers = [(b"Authorization", b"Bearer " + token.encode())] if token else []
        self._pool = httpcore.ConnectionPool(
            ssl_context=trusted() if is_encrypted else None,
            max_connections=n_connections,
            network_backend=BackendWithDeadline(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request with its secrets."""
        url = request.url.copy_with(query=self._query) if self._query else request.url
        started = time.monotonic()
        until = started + self._timeout
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                httpcore.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=[*request.headers.raw, *self._headers],
                content=request.stream,
                extensions={
                    # moments, but for the wait for a free connection, which the pool does itself
                    "timeout": {
                        "connect": min(until, started + CONNECT_SECONDS),
                        "read": until,
                        "write": until,
                        "pool": self._timeout,
                    }
                },
            )
        )
        stream = response.extensions.get("network_stream")
        if isinstance(stream, StreamWithDeadline) and not stream.has_replied:
            # what came too much with an earlier reply would be taken for the scores of others
            response.close()
            raise httpcore.RemoteProtocolError("it replied before it was asked")
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Let go of the connections."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    """What a reply holds, as it comes."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        """Give the connection back, or end it where something is still to come."""
        self._response.close()
