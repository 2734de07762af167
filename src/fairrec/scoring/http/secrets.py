"""What must not be shown, and its blanking in whatever a server says."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import parse_qsl, quote

_SHORTEST = 4
"""Shorter values of a query, such as `v=2`, are no secrets, and occur in any text."""


class Secrets:
    """A token and a query, kept out of texts that come back from a server.

    >>> Secrets("t0ken", "key=abcd").blanked("Bearer t0ken for ?key=abcd")
    'Bearer *** for ?***'
    """

    def __init__(self, token: str, query: str) -> None:
        values = [value for _, value in parse_qsl(query) if len(value) >= _SHORTEST]
        all_forms = {token, query, *values, *map(quote, values)}
        # the longest first, or a part of it would be left
        self._texts = sorted(filter(None, all_forms), key=len, reverse=True)

    def may_be_in(self, text: bytes) -> bool:
        """Whether a reply may hold one, in plain or in escaped letters."""
        return bool(self._texts) and (
            b"\\" in text or any(secret.encode() in text for secret in self._texts)
        )

    def blanked(self, said: Any) -> Any:
        """Text, or JSON with text in it, without them; numbers stay as they are."""
        if isinstance(said, str):
            for secret in self._texts:
                said = said.replace(secret, "***")
            return said
        if isinstance(said, list):
            return [self.blanked(one) for one in said]
        if isinstance(said, dict):
            return {self.blanked(name): self.blanked(one) for name, one in said.items()}
        return said


class SecretsFilter(logging.Filter):
    """Blanks them in the log of a library, which writes whole headers of replies."""

    def __init__(self, secrets: Secrets) -> None:
        super().__init__()
        self._secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without secrets."""
        record.msg, record.args = self._secrets.blanked(record.getMessage()), ()
        return True
