"""A model behind HTTP."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, ScoringError, plain
from fairrec.core.options import Blank, documented, spell
from fairrec.scoring.model import Model, ModelInput
from fairrec.scoring.options import EndpointOptions, Feature, parse_features
from fairrec.scoring.protocols import PROTOCOLS, ModelMetadata

if TYPE_CHECKING:
    from fairrec.scoring.http_client import JsonClient


_DIGEST_ROUNDS = 200_000
"""A guess at a secret in a query is to cost some time."""
_SHORTEST_SECRET = 4
"""Shorter values of a query, such as `v=2`, are no secrets, and occur in any text."""
_SHORTEST_BASE64 = 6


@documented(EndpointOptions)
class Endpoint(Model):
    """A model behind HTTP, asked in batches.

    Nothing is sent before the first use.

    Parameters
    ----------
    url : `http://HOST/v2/models/NAME` (oip), `http://HOST/v1/models/NAME` (tfserving), or where
        batches are posted (json)
    protocol, features, inputs, output, concurrency, rows_per_call, rate : see EndpointOptions
    timeout, retries, token_env : see EndpointOptions
    """

    def __init__(self, url: str, **options: Any) -> None:
        for name in ("httpx", "orjson", "tenacity"):
            if find_spec(name) is None:
                raise InputError(f"Asking an endpoint needs {name}: pip install 'fairrec[http]'")
        from fairrec.scoring.http_client import Pace

        self.options = EndpointOptions(**options)
        self._address = parse_address(url)
        self.address = self._address.shown
        self.who = f"The endpoint {plain(self.address, 200)}"
        self.features: tuple[Feature, ...] = parse_features(self.options.features)
        self.concurrency = self.options.concurrency
        self.rows_per_call = self.options.rows_per_call
        self._wire = PROTOCOLS[self.options.protocol](
            self._address.url, self.options.inputs, self.options.output, self.who
        )
        self._pace = Pace(self.options.rate)
        self._client: JsonClient | None = None
        self._metadata: ModelMetadata | None = None
        # an unset variable is an error now; the client alone keeps the token
        read_token(self.options.token_env, self._address)

    def __repr__(self) -> str:
        return f"Endpoint({self.address!r}, {self.options!r})"

    def open(self) -> None:
        """Make sure that the model is there and ready."""
        self._pace.restart()
        if self._metadata is None:
            try:
                self._metadata = self._wire.open(self._open_client())
            except ScoringError as error:
                # of its own kind: a server that is away now may be back later
                raise type(error)(f"{self.who} is not ready: {error}") from error

    @property
    def metadata(self) -> ModelMetadata:
        """The server's description of the model."""
        self.open()
        assert self._metadata is not None
        return self._metadata

    def identity(self) -> str:
        """Protocol, address, a digest of its query, the version the server states, features."""
        options, version = self.options, self.metadata.version
        digest = self._address.query_digest()
        parts = [options.protocol, self._address.url]
        parts += [f"query {digest}"] if digest else []
        parts += [f"version {version}"] if version else []
        parts += [",".join(map(str, self.features))] if self.features else []
        parts += [f"{name}={column}" for name, column in sorted(options.inputs.items())]
        parts += [f"output {options.output}"] if options.output else []
        return " ".join(parts)

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """The inputs the model takes."""
        self.open()
        return self._wire.bind(columns)

    def answer(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One number per pair, as the server returned them."""
        n_pairs = len(next(iter(inputs.values())))
        body = self._wire.body(inputs)
        reply = self._open_client().post(self._wire.url, body)
        return self._wire.read_scores(reply, n_pairs)

    def faults(self) -> dict[str, int]:
        """What went wrong and was tried again, by kind."""
        return {} if self._client is None else self._client.faults()

    def end_at(self, moment: float) -> None:
        """Try nothing again after a moment of `time.monotonic`."""
        self._pace.end_at(moment)

    def stop(self) -> None:
        """Try nothing again."""
        self._pace.stop()

    def close(self) -> None:
        """Close the connections; a later use has all the time again."""
        self._pace.end_at(math.inf)
        if self._client is not None:
            self._client.close()
            self._client = self._metadata = None

    def _open_client(self) -> JsonClient:
        if self._client is None:
            from fairrec.scoring.http_client import JsonClient

            token = read_token(self.options.token_env, self._address)
            self._client = JsonClient(self.options, self._pace, self._address.query, token)
        return self._client


@dataclass(frozen=True, slots=True)
class Address:
    """Where an endpoint is.

    Parameters
    ----------
    url : scheme, host and path
    query : what followed the question mark; it may hold a secret, so it is sent but never shown
    """

    url: str
    host: str
    is_encrypted: bool
    query: str = field(default="", repr=False)

    @property
    def shown(self) -> str:
        """For messages and results."""
        return f"{self.url}?***" if self.query else self.url

    @property
    def keeps_secrets(self) -> bool:
        """Whether what is sent can be read on the way: not if encrypted, or on this machine."""
        with suppress(ValueError):
            return self.is_encrypted or ipaddress.ip_address(self.host).is_loopback
        return self.is_encrypted or self.host == "localhost"

    def query_digest(self) -> str:
        """Distinguishes queries of an address without showing them, and slowly on purpose."""
        if not self.query:
            return ""
        key = hashlib.pbkdf2_hmac("sha256", self.query.encode(), self.url.encode(), _DIGEST_ROUNDS)
        return key.hex()[:12]


def parse_address(text: str) -> Address:
    """An address of HTTP; a user name or password in it is an error.

    >>> parse_address("http://localhost:8000/v2/models/ranker/").url
    'http://localhost:8000/v2/models/ranker'
    """
    wrong = (
        f"invalid {spell('endpoint')}: expected an address without blanks, http://HOST/PATH or "
        "https://HOST/PATH"
    )
    try:
        parts = urlsplit(text.strip())
        has_credentials = "@" in parts.netloc
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        # the text is not shown: a password may be what makes it odd
        raise InputError(wrong) from None
    if has_credentials:
        raise InputError(
            f"{spell('endpoint')}: the address holds a user name or a password. Leave them out and "
            f"give a token: {spell('token_env', Blank('NAME'))}"
        )
    is_clean = text.isprintable() and " " not in text.strip()
    if parts.scheme not in ("http", "https") or not host or not is_clean:
        raise InputError(f"{wrong}, got {plain(text.partition('?')[0])}")
    path = parts.path.rstrip("/")
    return Address(
        f"{parts.scheme}://{parts.netloc}{path}", host, parts.scheme == "https", parts.query
    )


def read_token(variable: str | None, address: Address) -> str:
    """The token in an environment variable; empty without one.

    The name of the variable is not shown: it may be the token itself, given by mistake.
    """
    if variable is None:
        return ""
    token = os.environ.get(variable, "").strip()
    wrong = ""
    if not token:
        wrong = "the environment variable it names is not set, or is empty. Set it."
    elif not (token.isascii() and token.isprintable()) or " " in token:
        wrong = "the variable holds no token: it has blanks or other than ASCII characters."
    elif not address.keeps_secrets:
        wrong = "the token would be readable on the way. Give an address of https."
    if wrong:
        raise InputError(f"{spell('token_env')}: {wrong}")
    return token


class Secrets:
    """A token and a query, kept out of texts that come back from a server.

    They are redacted as they are, as JSON escapes them, percent-encoded and within base64.

    Examples
    --------
    >>> secrets = Secrets("key=abcd", "t0ken/8dd1")
    >>> secrets.redact("Bearer t0ken/8dd1 for ?key=abcd, %740ken%2F8dd1, dDBrZW4vOGRkMQ==")
    'Bearer *** for ?***, ***, ***Q=='
    """

    def __init__(self, query: str = "", token: str = "") -> None:
        values = [value for _, value in parse_qsl(query) if len(value) >= _SHORTEST_SECRET]
        # the longest first, or a part of it would be left
        secrets = sorted({query, token, *values} - {""}, key=len, reverse=True)
        patterns = [pattern for secret in secrets for pattern in _patterns(secret)]
        self._forms = re.compile("|".join(patterns), re.IGNORECASE) if patterns else None

    def redact(self, text: Any) -> Any:
        """Text, or JSON with text in it, without them; numbers stay as they are."""
        if self._forms is None:
            return text
        if isinstance(text, str):
            return self._forms.sub("***", text)
        if isinstance(text, list):
            return [one if isinstance(one, float) else self.redact(one) for one in text]
        if isinstance(text, dict):
            return {self.redact(name): self.redact(one) for name, one in text.items()}
        return text


def _patterns(secret: str) -> Iterator[str]:
    """The forms of a secret as regular expressions; of each letter a form of its own."""
    letters = (
        (one, json.dumps(one)[1:-1], "".join(f"%{byte:02x}" for byte in one.encode()))
        for one in secret
    )
    yield "".join(f"(?:{'|'.join(map(re.escape, forms))})" for forms in letters)
    raw = secret.encode()
    for n_before in range(3):
        # what stands before it shifts its letters, and shares the first and the last one
        text = base64.b64encode(bytes(n_before) + raw).decode()
        inner = text[-(-8 * n_before // 6) : 8 * (n_before + len(raw)) // 6]
        if len(inner) >= _SHORTEST_BASE64:
            yield inner.replace("+", "[+-]").replace("/", "[/_]")
