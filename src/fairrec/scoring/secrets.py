"""What must not be shown, and its redaction in whatever a server says."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl

_SHORTEST = 4
"""Shorter values of a query, such as `v=2`, are no secrets, and occur in any text."""
_SHORTEST_BASE64 = 6


class Secrets:
    """A token and a query, kept out of texts that come back from a server.

    They are redacted as they are, percent-encoded and within base64.

    Parameters
    ----------
    query : as it is sent
    kept : values that are secrets for certain, however short: a token, keys of the environment

    Examples
    --------
    >>> secrets = Secrets("key=abcd", ["t0ken-8dd1"])
    >>> secrets.redact("Bearer t0ken-8dd1 for ?key=abcd, %740ken-8dd1")
    'Bearer *** for ?***, ***'
    >>> secrets.redact(["scores for dDBrZW4tOGRkMQ==", 0.5])
    ['scores for ***Q==', 0.5]
    """

    def __init__(self, query: str = "", kept: Iterable[str] = ()) -> None:
        values = [value for _, value in parse_qsl(query) if len(value) >= _SHORTEST]
        # the longest first, or a part of it would be left
        secrets = sorted({query, *kept, *values} - {""}, key=len, reverse=True)
        forms = [form for secret in secrets for form in _forms(secret)]
        self._forms = re.compile("|".join(forms)) if forms else None

    def redact(self, said: Any) -> Any:
        """Text, or JSON with text in it, without them; numbers stay as they are."""
        if self._forms is None:
            return said
        if isinstance(said, str):
            return self._forms.sub("***", said)
        if isinstance(said, list):
            return [one if isinstance(one, float) else self.redact(one) for one in said]
        if isinstance(said, dict):
            return {self.redact(name): self.redact(one) for name, one in said.items()}
        return said


class SecretsFilter(logging.Filter):
    """Redacts them in the log of a library, which writes whole headers of replies."""

    def __init__(self, secrets: Secrets) -> None:
        super().__init__()
        self._secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without secrets."""
        record.msg, record.args = self._secrets.redact(record.getMessage()), ()
        return True


def _forms(secret: str) -> Iterator[str]:
    """Regular expressions of a secret: plain, escaped in JSON, percent-encoded, and in base64."""
    yield "".join(_plain_or_percent(letter) for letter in secret)
    raw = secret.encode()
    for n_before in range(3):
        # what stands before it shifts its letters, and shares the first and the last one
        text = base64.b64encode(b"\0" * n_before + raw).decode()
        inner = text[-(-8 * n_before // 6) : 8 * (n_before + len(raw)) // 6]
        if len(inner) >= _SHORTEST_BASE64:
            yield inner.replace("+", "[+-]").replace("/", "[/_]")


def _plain_or_percent(letter: str) -> str:
    percent = "".join(f"%{byte:02x}" for byte in letter.encode())
    escaped = json.dumps(letter, ensure_ascii=False)[1:-1]
    return f"(?:{re.escape(escaped)}|{re.escape(letter)}|(?i:{percent}))"
