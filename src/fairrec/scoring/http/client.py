"""JSON over HTTP: patient with faults, strict about what comes back, silent about secrets."""

from __future__ import annotations

import logging
import re
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpcore
import httpx

from fairrec.core.errors import ScoringError, TimeOverError, UnavailableError, plain
from fairrec.core.options import spelled
from fairrec.core.version import __version__
from fairrec.scoring.http.json_text import from_json, to_json
from fairrec.scoring.http.pace import Pace
from fairrec.scoring.http.patience import LONGEST_RETRY_AFTER, Fault, Patience
from fairrec.scoring.http.refusals import BYTES_OF_WORDS, Refusals
from fairrec.scoring.http.secrets import Secrets, SecretsFilter
from fairrec.scoring.http.transport import CONNECT_SECONDS, TransportWithSecrets

RETRIES_BEFORE_FIRST_ANSWER = 2
"""A wrong address should not be tried for a minute."""
_VALUES_A_PAIR, _VALUES_BESIDE = 256, 100_000
"""Far more than scores and metadata need; other outputs of a model may come along."""
_JSON = re.compile(r"application/(.+\+)?json")
_LOGS = ("httpx", "httpcore.connection", "httpcore.http11")
_CONNECTION_ERRORS = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
)


class JsonClient:
    """Sends JSON and reads JSON; safe to use from several threads.

    Parameters
    ----------
    query : added to every address, and never shown
    token : sent as a bearer token, and never shown
    secret_values : of the query, that are secrets however short
    most_bytes : the longest reply that is read
    is_encrypted : whether addresses are of https
    """

    def __init__(
        self,
        patience: Patience,
        pace: Pace,
        n_connections: int,
        most_bytes: int,
        is_encrypted: bool,
        query: str = "",
        token: str = "",
        secret_values: Iterable[str] = (),
    ) -> None:
        self._patience, self._pace, self._most_bytes = patience, pace, most_bytes
        self._secrets = Secrets(query, [token, *secret_values])
        self._refusals = Refusals(self._secrets, bool(token))
        self._filter = SecretsFilter(self._secrets)
        for name in _LOGS:
            logging.getLogger(name).addFilter(self._filter)
        self._has_answered = False
        self._faults: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._client = httpx.Client(
            transport=TransportWithSecrets(
                patience.timeout, n_connections, is_encrypted, query, token
            ),
            headers={
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": f"fairrec/{__version__}",
            },
            follow_redirects=False,
            # no passwords from .netrc, no proxies
            trust_env=False,
            # what a server asks to be remembered is a secret of whoever it asks
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        )

    def get(self, url: str) -> Any:
        """The JSON at an address; None where there is nothing (404)."""
        return self.request("GET", url)

    def is_there(self, url: str) -> bool:
        """Whether an address answers, whatever it says; not where there is nothing."""
        return self.request("GET", url, is_read=False) is not None

    def request(
        self, method: str, url: str, body: Any = None, is_read: bool = True, n_pairs: int = 0
    ) -> Any:
        """The JSON that comes back; a fault that may pass is waited out and tried again.

        Parameters
        ----------
        body : sent as JSON, where there is one
        is_read : otherwise True comes back for any reply that is no error
        n_pairs : those it is asked for, which say how many values a reply can have
        """
        content = None if body is None else to_json(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        seen: Counter[str] = Counter()
        while True:
            self._pace.take_turn()
            request = self._client.build_request(method, url, content=content, headers=headers)
            started = time.monotonic()
            try:
                with self._transport_faults():
                    response = self._client.send(request, stream=True)
                    with closing(response):
                        text = self._text_of(response, started, is_read)
                return self._said(response, text, is_read, n_pairs)
            except Fault as fault:
                seen[fault.kind] += 1
                with self._lock:
                    self._faults[fault.kind] += 1
                self._wait(fault, seen)

    def faults(self) -> dict[str, int]:
        """What went wrong so far and was tried again or given up, by kind."""
        with self._lock:
            return dict(sorted(self._faults.items()))

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()
        for name in _LOGS:
            logging.getLogger(name).removeFilter(self._filter)

    def _wait(self, fault: Fault, seen: Counter[str]) -> None:
        """Wait for the next attempt, or give up.

        Parameters
        ----------
        seen : the faults of all attempts so far, this one included
        """
        patience, attempt = self._patience, seen.total()
        allowed = patience.retries
        if not self._has_answered:
            allowed = min(allowed, RETRIES_BEFORE_FIRST_ANSWER)
        if attempt > allowed:
            times = "1 attempt" if attempt == 1 else f"{attempt} attempts"
            kinds = ", ".join(f"{n} x {kind}" for kind, n in seen.items())
            raise UnavailableError(f"given up after {times} ({kinds}). The last: {fault.words}")
        if fault.wait is not None and fault.wait > LONGEST_RETRY_AFTER:
            raise UnavailableError(
                f"it asks to wait {fault.wait:,.0f} s before the next call, longer than the "
                f"{LONGEST_RETRY_AFTER:,.0f} s it is waited for ({fault.words}). Go on then"
            )
        seconds = max(patience.back_off(attempt), fault.wait or 0.0)
        if fault.is_busy:
            self._pace.hold(seconds)
        try:
            self._pace.sleep(seconds)
        except TimeOverError as over:
            raise TimeOverError(f"{over}. The last: {fault.words}") from over

    def _text_of(self, response: httpx.Response, started: float, is_read: bool) -> bytes:
        """What a reply says, of an error its first words; nothing where it is not read."""
        self._has_answered = True
        if not response.is_success:
            return self._read(response, started, is_cut=True)
        if not is_read:
            return b""
        self._refuse_other_kinds(response)
        return self._read(response, started)

    def _said(self, response: httpx.Response, text: bytes, is_read: bool, n_pairs: int) -> Any:
        """The JSON of a reply; None where there is nothing at an address that was looked at."""
        if response.is_success:
            return self._parse(text, n_pairs) if is_read else True
        if response.request.method == "GET" and response.status_code == httpx.codes.NOT_FOUND:
            return None
        raise self._refusals.error(response, text)

    @contextmanager
    def _transport_faults(self) -> Iterator[None]:
        try:
            yield
        except httpcore.ConnectTimeout as error:
            seconds = min(self._patience.timeout, CONNECT_SECONDS)
            raise Fault("connection", f"no connection within {seconds:g} s") from error
        except httpcore.TimeoutException as error:
            raise self._timeout() from error
        except (*_CONNECTION_ERRORS, httpx.TransportError) as error:
            # errors of a protocol repeat what broke it
            self._secrets.blank_error(error)
            certificate = _certificate_error(error)
            if certificate is not None:
                raise ScoringError(
                    f"its certificate is not trusted ({plain(certificate, 200)}). Where it is of "
                    "your own authority, name that authority's file in SSL_CERT_FILE"
                ) from error
            words = plain(error, 200) or type(error).__name__
            raise Fault("connection", f"no connection, or it broke off ({words})") from error

    def _timeout(self) -> Fault:
        return Fault(
            "timeout",
            f"no complete reply within {self._patience.timeout:g} s. Raise "
            f"{spelled('timeout')} or lower {spelled('rows_per_call')}",
        )

    def _refuse_other_kinds(self, response: httpx.Response) -> None:
        """Only plain JSON of the size allowed is read."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if not _JSON.fullmatch(kind.lower()):
            shown = plain(self._secrets.blanked(kind)) or "of no type"
            raise ScoringError(f"the reply is {shown}, not application/json. Check the address")
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding != "identity":
            shown = plain(self._secrets.blanked(encoding))
            raise ScoringError(f"the reply is compressed ({shown}), which was not asked")
        length = response.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._most_bytes:
            raise self._too_large(f"{int(length):,} bytes")

    def _too_large(self, size: str) -> ScoringError:
        return ScoringError(
            f"the reply is larger than allowed ({size}, at most {self._most_bytes:,}). Raise "
            f"{spelled('max_reply_mb')} if that is right, or lower {spelled('rows_per_call')}"
        )

    def _read(self, response: httpx.Response, started: float, is_cut: bool = False) -> bytes:
        """The text of a reply: all of it, or the first part where only words are wanted."""
        text = bytearray()
        for chunk in response.iter_raw():
            text += chunk
            if is_cut and len(text) >= BYTES_OF_WORDS:
                break
            if len(text) > self._most_bytes:
                raise self._too_large(f"{len(text):,} bytes and more")
            # a server that sends a byte now and then never stays silent long
            if time.monotonic() - started > self._patience.timeout:
                raise self._timeout()
        return bytes(text)

    def _parse(self, text: bytes, n_pairs: int) -> Any:
        # an empty list has two letters, and takes thirty times as much once it is read
        n_values = sum(map(text.count, (b"[", b"{", b",")))
        if n_values > _VALUES_BESIDE + _VALUES_A_PAIR * n_pairs:
            raise ScoringError(
                f"the reply has {n_values:,} values for {n_pairs:,} pairs, which is not read. It "
                "must have one number for each pair"
            )
        try:
            found = from_json(text)
        except ValueError as error:
            words = f"the reply is no complete JSON ({plain(error, 120)}, {len(text):,} bytes)"
            raise Fault("broken JSON", words) from error
        return self._secrets.blanked(found)


def _certificate_error(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    """The failed check of a certificate behind an error, where there is one."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error
        error = error.__cause__ or error.__context__
    return None
