"""A model behind HTTP."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, ScoringError, plain
from fairrec.core.options import documented
from fairrec.scoring.http.address import parse_address
from fairrec.scoring.http.endpoint_options import EndpointOptions
from fairrec.scoring.http.environment import query_values_in, query_with, token_in
from fairrec.scoring.http.pace import Pace
from fairrec.scoring.http.patience import Patience
from fairrec.scoring.models.feature_names import Feature, parse_features
from fairrec.scoring.models.model import ModelInput
from fairrec.scoring.wire import PROTOCOLS, Seen
from fairrec.scoring.wire.protocol import Asked

if TYPE_CHECKING:
    from fairrec.scoring.http.client import JsonClient


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
        reply = self._open_client().request("POST", self._wire.url, body, n_pairs=n_pairs)
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
            from fairrec.scoring.http.client import JsonClient

            options = self.options
            token, values = self._secrets_of_environment()
            self._client = JsonClient(
                Patience(
                    options.retries, options.timeout, options.first_wait, options.longest_wait
                ),
                self._pace,
                options.concurrency,
                int(options.max_reply_mb * 1e6),
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
    for name in ("httpx", "orjson"):
        if find_spec(name) is None:
            raise InputError(f"Asking an endpoint needs {name}: pip install 'fairrec[http]'")
