"""The last step of a request, where its secrets are put in."""

from __future__ import annotations

import httpx


class TransportWithSecrets(httpx.BaseTransport):
    """Adds query and token on the way out; the client, its log and its errors never hold them."""

    def __init__(self, inner: httpx.BaseTransport, query: str, token: str) -> None:
        self._inner = inner
        self._query = query.encode()
        self._headers = [(b"Authorization", b"Bearer " + token.encode())] if token else []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request with its secrets."""
        url = request.url.copy_with(query=self._query) if self._query else request.url
        return self._inner.handle_request(
            httpx.Request(
                request.method,
                url,
                headers=[*request.headers.raw, *self._headers],
                stream=request.stream,
                extensions=request.extensions,
            )
        )

    def close(self) -> None:
        """Let go of the connections."""
        self._inner.close()
