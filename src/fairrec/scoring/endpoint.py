"""A model behind HTTP."""

from __future__ import annotations

import hashlib
import ipaddress
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, ScoringError, plain
from fairrec.core.options import Blank, documented, spell
from fairrec.scoring.model import ModelInput
from fairrec.scoring.options import EndpointOptions, Feature, parse_features
from fairrec.scoring.protocols import PROTOCOLS, Asked, Seen
from fairrec.scoring.retries import Pace

if TYPE_CHECKING:
    from fairrec.scoring.http_client import JsonClient


_DIGEST_ROUNDS = 200_000
"""Each guess at a secret in a query shall cost some time."""
_DIGEST_LETTERS = 12


@documented(EndpointOptions)
class Endpoint:
    """A model behind HTTP, asked in batches.

    Nothing is sent before the first use.

    Parameters
    ----------
    url : `http://HOST/v2/models/NAME` (oip), `http://HOST/v1/models/NAME` (tfserving), or where
        batches are posted (json)
    protocol, features, inputs, output, concurrency, rows_per_call, rate : see EndpointOptions
    timeout, retries, token_env, query_env, max_reply_mb : see EndpointOptions
    first_wait, longest_wait : see EndpointOptions

    Examples
    --------
    >>> model = Endpoint("https://ranker.example/score", protocol="json", concurrency=4)
    >>> model.who
    'The endpoint https://ranker.example/score'
    """

    def __init__(self, url: str, **options: Any) -> None:
        _need_http()
        self.options = EndpointOptions(**options)
        self._address = parse_address(url)
        self.address = self._address.shown
        self.who = f"The endpoint {plain(self.address, 200)}"
        self.features: tuple[Feature, ...] = parse_features(self.options.features)
        self.concurrency = self.options.concurrency
        self.rows_per_call = self.options.rows_per_call
        self._wire = PROTOCOLS[self.options.protocol](
            Asked(self._address.url, self.options.inputs, self.options.output, self.who)
        )
        self._pace = Pace(self.options.rate)
        self._client: JsonClient | None = None
        self._seen: Seen | None = None
        # what is not set is said now, and read again when it is needed
        self._secrets_of_environment()

    def __repr__(self) -> str:
        return f"Endpoint({self.address!r}, {self.options!r})"

    def open(self) -> None:
        """Make sure that the model is there and ready."""
        self._pace.restart()
        if self._seen is None:
            try:
                self._seen = self._wire.open(self._open_client())
            except ScoringError as error:
                # of its own kind: a server that is away now may be back later
                raise type(error)(f"{self.who} is not ready to be asked: {error}") from error

    @property
    def seen(self) -> Seen:
        """What the server says of the model."""
        self.open()
        assert self._seen is not None
        return self._seen

    def identity(self) -> str:
        """Protocol, address, a digest of its query, the version the server states, features."""
        options, version = self.options, self.seen.version
        digest = self._address.query_digest()
        parts = [options.protocol, self._address.url, f"query {digest}" if digest else ""]
        parts.append(f"version {version}" if version else "")
        if self.features:
            parts.append(",".join(f"{one.table}:{one.column}" for one in self.features))
        parts += [f"{name}={column}" for name, column in sorted(options.inputs.items())]
        parts.append(f"output {options.output}" if options.output else "")
        return " ".join(filter(None, parts))

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """The inputs the model takes."""
        self.open()
        return self._wire.bind(columns)

    def answer(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One number per pair, as the server returned them."""
        n_pairs = len(next(iter(inputs.values())))
        body = self._wire.body(inputs)
        reply = self._open_client().request("POST", self._wire.url, body)
        return self._wire.scores_in(reply, n_pairs)

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
        """Let go of the connections; whoever asks next has all the time again."""
        self._pace.end_at(math.inf)
        if self._client is not None:
            self._client.close()
            self._client = self._seen = None

    def _open_client(self) -> JsonClient:
        if self._client is None:
            from fairrec.scoring.http_client import JsonClient

            token, values = self._secrets_of_environment()
            self._client = JsonClient(
                self.options,
                self._pace,
                self._address.is_encrypted,
                query_with(self._address.query, values),
                token,
                tuple(values.values()),
            )
        return self._client

    def _secrets_of_environment(self) -> tuple[str, dict[str, str]]:
        """The token, and values of the query by their keys; the client alone keeps them."""
        options, address = self.options, self._address
        return token_in(options.token_env, address), query_values_in(options.query_env, address)


def _need_http() -> None:
    for name in ("httpx", "orjson", "tenacity"):
        if find_spec(name) is None:
            raise InputError(f"Asking an endpoint needs {name}: pip install 'fairrec[http]'")


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
        """For messages and results.

        >>> parse_address("https://host/score?key=1234").shown
        'https://host/score?***'
        """
        return f"{self.url}?***" if self.query else self.url

    @property
    def is_this_machine(self) -> bool:
        """Whether what is sent there stays on this machine.

        >>> parse_address("http://127.0.0.2/score").is_this_machine
        True
        """
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def query_digest(self) -> str:
        """Tells queries apart without showing them; the empty text where there is none.

        Slow on purpose, and of one address: a secret cannot be looked up in a table of digests.
        """
        if not self.query:
            return ""
        key = hashlib.pbkdf2_hmac("sha256", self.query.encode(), self.url.encode(), _DIGEST_ROUNDS)
        return key.hex()[:_DIGEST_LETTERS]


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
            f"{spell('endpoint')}: the address holds a user name or a password, which would "
            "end up in the result. Leave them out and give a token: "
            f"{spell('token_env', Blank('NAME'))}"
        )
    is_clean = text.isprintable() and " " not in text.strip()
    if parts.scheme not in ("http", "https") or not host or not is_clean:
        raise InputError(f"{wrong}, got {plain(text.partition('?')[0])}")
    path = parts.path.rstrip("/")
    return Address(
        f"{parts.scheme}://{parts.netloc}{path}", host, parts.scheme == "https", parts.query
    )


def token_in(name: str | None, address: Address) -> str:
    """The token in a variable of this name; the empty text where none is named."""
    if name is None:
        return ""
    token = _content(name, "token_env", address)
    if not token.isascii() or " " in token:
        raise InputError(
            f"{spell('token_env')}: what the variable holds is no token: it has blanks or "
            "characters that are not ASCII. Set it to the token alone."
        )
    return token


def query_values_in(names: Mapping[str, str], address: Address) -> dict[str, str]:
    """The values of a query by their keys, from variables of these names."""
    return {key: _content(name, "query_env", address) for key, name in names.items()}


def query_with(query: str, values: Mapping[str, str]) -> str:
    """A query with more values at its end.

    >>> query_with("v=2", {"key": "a&b"})
    'v=2&key=a%26b'
    """
    more = (f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in values.items())
    return "&".join(filter(None, [query, *more]))


def _content(name: str, option: str, address: Address) -> str:
    """What a variable holds. Its name is not shown: somebody may have given the secret for it."""
    content = os.environ.get(name, "").strip()
    if not content:
        raise InputError(
            f"{spell(option)}: the environment variable it names is not set, or is empty. Set it."
        )
    if not content.isprintable():
        raise InputError(
            f"{spell(option)}: what the variable holds is no token or key: it has control "
            "characters. Set it to the secret alone."
        )
    if not (address.is_encrypted or address.is_this_machine):
        raise InputError(
            f"{spell(option)}: its content would be readable for everyone on the way to "
            f"{plain(address.host)}. Give an address of https."
        )
    return content
