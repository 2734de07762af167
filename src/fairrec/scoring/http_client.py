"""JSON over HTTP: retries what may pass, strict about what comes back, silent about secrets."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import random
import re
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn, TypeVar

import httpx
import numpy as np
import orjson
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential

from fairrec.core.errors import InputError, ScoringError, TimeOverError, UnavailableError, plain
from fairrec.core.options import Blank, spell
from fairrec.core.version import __version__
from fairrec.scoring.endpoint import Secrets
from fairrec.scoring.model import SIGNAL_SECONDS, Stopped
from fairrec.scoring.options import EndpointOptions

T = TypeVar("T")

CONNECT_SECONDS = 10.0
"""A host that is not there is not waited for as long as one that is at work."""
RETRIES_BEFORE_FIRST_ANSWER = 2
"""A wrong address should not be tried for a minute."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds before a call is repeated the first time, and at most."""
MOST_BYTES = 64_000_000
"""The longest reply."""
_BYTES_OF_ERROR, _LETTERS_OF_ERROR = 4096, 300
"""The part of an error that is read, and shown."""
_TOO_MANY = 429
_TRY_AGAIN = frozenset({408, 425, _TOO_MANY})
_NEVER = frozenset({501, 505})
"""Not implemented, and another version of HTTP: no second try will change that."""
_JSON = re.compile(r"application/(.+\+)?json")
for _name in ("httpx", "httpcore"):
    # their records hold whole addresses and headers
    logging.getLogger(_name).setLevel(logging.WARNING)
LONGEST_RETRY_AFTER = 600.0
"""Seconds; a server that asks for more is given up on for now."""


@dataclass(eq=False)
class Fault(Exception):  # noqa: N818 - not yet an error
    """What may be gone at the next attempt; faults are counted by their kind."""

    kind: str
    words: str
    wait: float | None = None
    """Seconds that the server asks to wait."""
    is_busy: bool = False
    """Whether all calls should wait."""


class Pace:
    """One clock for all calls: a maximum rate, and no calls while the server is busy."""

    def __init__(self, rate: float | None) -> None:
        self._between = 0.0 if rate is None else 1.0 / rate
        self._next, self._end = 0.0, math.inf
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def take_turn(self) -> None:
        """Wait until the next call may be made."""
        with self._lock:
            turn = max(time.monotonic(), self._next)
            self._next = turn + self._between
        self.sleep(turn - time.monotonic())

    def hold(self, seconds: float) -> None:
        """Let no further call begin for so long."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)

    def end_at(self, moment: float) -> None:
        """Wait for nothing that is later than a moment of `time.monotonic`."""
        self._end = moment

    def sleep(self, seconds: float) -> None:
        """Wait, unless it is stopped, or longer than there is time."""
        if seconds > 0 and time.monotonic() + seconds > self._end:
            raise TimeOverError(f"{spell('budget_seconds')} is over before it can be asked again")
        if self._stopped.is_set() or (seconds > 0 and self._stopped.wait(seconds)):
            raise Stopped

    def stop(self) -> None:
        """End all waiting."""
        self._stopped.set()

    def restart(self) -> None:
        """Begin again after a stop."""
        self._stopped.clear()


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a server asks to wait, from a number or a date; None without either.

    >>> retry_after("3"), retry_after("1.5"), retry_after("soon"), retry_after(None)
    (3.0, 1.5, None, None)
    """
    text = header or ""
    with suppress(ValueError):
        return max(0.0, float(text))
    # what is no date fails in the parts of the standard library in different ways
    with suppress(ValueError, OverflowError, TypeError, IndexError):
        until = parsedate_to_datetime(text)
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())
    return None


class JsonClient:
    """Sends JSON and reads JSON; safe to use from several threads.

    All exchanges run in an event loop in a thread of its own, because only there a deadline holds
    for a whole call, however slowly a server sends.

    Parameters
    ----------
    query : added to every address, and never shown
    token : sent as a bearer token, and never shown
    """

    def __init__(
        self, options: EndpointOptions, pace: Pace, query: str = "", token: str = ""
    ) -> None:
        self._options, self._pace = options, pace
        self._query, self._token = query, token
        # one half for the connection and one for the handshake: httpcore leaves a socket open when
        # a handshake is cancelled from outside
        self._connect_seconds = min(CONNECT_SECONDS, options.timeout / 2)
        self._secrets = Secrets(query, token)
        self._has_answered = False
        self._faults: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._client = httpx.AsyncClient(
            verify=_trusted(),
            limits=httpx.Limits(max_connections=options.concurrency),
            headers={
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": f"fairrec/{__version__}",
            },
            timeout=httpx.Timeout(None, connect=self._connect_seconds),
            follow_redirects=False,
            # no passwords from .netrc, no proxies
            trust_env=False,
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def get(self, url: str) -> Any:
        """The JSON at an address; None where there is nothing (404)."""
        return self._retry("GET", url, None, self._parse)

    def is_there(self, url: str) -> bool:
        """Whether an address answers, with any text; not where there is nothing."""
        return self._retry("GET", url, None, lambda response, text: True) is not None

    def post(self, url: str, body: Any) -> Any:
        """The JSON that comes back; a fault that may pass is waited out and tried again."""
        return self._retry("POST", url, to_json(body), self._parse)

    def _retry(
        self,
        method: str,
        url: str,
        content: bytes | None,
        parse: Callable[[httpx.Response, bytes], Any],
    ) -> Any:
        faults: list[Fault] = []

        def attempt() -> Any:
            self._pace.take_turn()
            try:
                response, text = self._wait_for(self._exchange(method, url, content))
                if response.is_success:
                    return parse(response, text)
                if method == "GET" and response.status_code == 404:
                    return None
                raise self._refusal(response, text)
            except Fault as fault:
                faults.append(fault)
                with self._lock:
                    self._faults[fault.kind] += 1
                raise

        retrying = Retrying(
            retry=retry_if_exception_type(Fault),
            stop=self._is_last,
            wait=lambda state: max(self._back_off(state), faults[-1].wait or 0.0),
            before_sleep=lambda state: self._hold(faults[-1], state),
            sleep=self._pace.sleep,
            retry_error_callback=lambda _: _give_up(faults),
        )
        return retrying(attempt)

    def faults(self) -> dict[str, int]:
        """What went wrong so far and was tried again or given up, by kind."""
        with self._lock:
            return dict(sorted(self._faults.items()))

    def close(self) -> None:
        """Let go of the connections, and end the calls under way."""
        self._wait_for(self._end_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of work in the event loop."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            while not wait([future], SIGNAL_SECONDS).done:
                pass
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _end_all(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._client.aclose()

    def _is_last(self, state: RetryCallState) -> bool:
        most = self._options.retries
        if not self._has_answered:
            most = min(most, RETRIES_BEFORE_FIRST_ANSWER)
        return state.attempt_number > most

    def _back_off(self, state: RetryCallState) -> float:
        """Seconds to wait: doubled each time, less a random part up to a half.

        It keeps calls that failed together from coming back together.
        """
        longest = wait_exponential(FIRST_WAIT, LONGEST_WAIT)(state)
        return longest * random.uniform(0.5, 1.0)

    def _hold(self, fault: Fault, state: RetryCallState) -> None:
        """Let all calls wait for a server that is busy, but none for very long."""
        if fault.wait is not None and fault.wait > LONGEST_RETRY_AFTER:
            raise UnavailableError(
                f"it asks to wait {fault.wait:,.0f} s before the next call, longer than the "
                f"{LONGEST_RETRY_AFTER:,.0f} s it is waited for ({fault.words}). Go on then"
            )
        if fault.is_busy:
            self._pace.hold(state.upcoming_sleep)

    async def _exchange(
        self, method: str, url: str, content: bytes | None
    ) -> tuple[httpx.Response, bytes]:
        """A reply and its text, within the time of a call."""
        headers = {} if content is None else {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {self._token}"} if self._token else {}
        url += f"?{self._query}" if self._query else ""
        options = self._options
        try:
            async with (
                asyncio.timeout(options.timeout),
                self._client.stream(method, url, content=content, headers=headers) as response,
            ):
                self._has_answered = True
                return response, await _read(response)
        except httpx.ConnectTimeout:
            raise Fault("connection", f"no connection within {self._connect_seconds:g} s") from None
        except TimeoutError:
            late = f"no complete reply within {options.timeout:g} s"
            how = f"Raise {spell('timeout')} or lower {spell('rows_per_call')}"
            raise Fault("timeout", f"{late}. {how}") from None
        except (httpx.TransportError, UnicodeError) as error:
            # its chain is not shown: errors of a protocol repeat what broke it
            raise self._connection_error(error) from None

    def _connection_error(self, error: Exception) -> Fault | ScoringError:
        first: BaseException = error
        while (before := first.__cause__ or first.__context__) is not None:
            first = before
        words = plain(self._secrets.redact(str(first)), 200) or type(first).__name__
        if isinstance(first, ssl.SSLCertVerificationError):
            return ScoringError(
                f"its certificate is not trusted ({words}). Where it is of your own authority, "
                "name that authority's file in SSL_CERT_FILE"
            )
        return Fault("connection", f"no connection, or it broke off ({words})")

    def _parse(self, response: httpx.Response, text: bytes) -> Any:
        """The JSON of a reply, without secrets; any other kind of reply is an error."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if not _JSON.fullmatch(kind.lower()):
            shown = plain(self._secrets.redact(kind)) or "of no type"
            raise ScoringError(f"the reply is {shown}, not application/json. Check the address")
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding != "identity":
            shown = plain(self._secrets.redact(encoding))
            raise ScoringError(f"the reply is compressed ({shown}). Have the server leave that out")
        try:
            return self._secrets.redact(from_json(text))
        except ValueError as error:
            words = f"the reply is no complete JSON ({plain(error, 120)}, {len(text):,} bytes)"
            raise Fault("broken JSON", words) from None

    def _refusal(self, response: httpx.Response, text: bytes) -> Fault | ScoringError:
        """A fault that may be gone the next time, or an error that will not."""
        code = response.status_code
        words = _describe_error(response, text, self._secrets)
        if code in _TRY_AGAIN or (code >= 500 and code not in _NEVER):
            wait = retry_after(response.headers.get("retry-after"))
            return Fault(f"HTTP {code}", words, wait, code == _TOO_MANY or wait is not None)
        if 300 <= code < 400:
            target: str = self._secrets.redact(response.headers.get("location", "nowhere"))
            shown = plain(target.partition("?")[0].rpartition("@")[2])
            return ScoringError(
                f"HTTP {code}: it redirects to {shown}, which is not followed. If you trust it, "
                f"give that address as {spell('endpoint')}"
            )
        login = f". If it wants a token: {spell('token_env', Blank('NAME'))}"
        if self._token:
            login = f". The token given by {spell('token_env')} is not accepted"
        remedies = {
            401: login,
            403: login,
            404: ". Check the address",
            413: f". Lower {spell('rows_per_call')}",
            501: f". Check the address and {spell('protocol')}",
        }
        return ScoringError(words + remedies.get(code, ""))


async def _read(response: httpx.Response) -> bytes:
    """The text of a reply; of an error its first part."""
    most = MOST_BYTES if response.is_success else _BYTES_OF_ERROR
    text = bytearray()
    async for chunk in response.aiter_raw():
        text += chunk
        if len(text) > most:
            if not response.is_success:
                break
            raise ScoringError(
                f"the reply has more than {most:,} bytes. Lower {spell('rows_per_call')}"
            )
    return bytes(text)


def _trusted() -> ssl.SSLContext:
    """Authorities that SSL_CERT_FILE or SSL_CERT_DIR names, else those that are widely trusted."""
    try:
        return httpx.create_ssl_context()
    except (OSError, ValueError) as error:
        raise InputError(f"SSL_CERT_FILE names no certificates ({plain(error, 200)}).") from error


def _give_up(faults: list[Fault]) -> NoReturn:
    attempts = "1 attempt" if len(faults) == 1 else f"{len(faults)} attempts"
    kinds = ", ".join(f"{n} x {kind}" for kind, n in Counter(one.kind for one in faults).items())
    raise UnavailableError(f"given up after {attempts} ({kinds}). The last: {faults[-1].words}")


def _describe_error(response: httpx.Response, text: bytes, secrets: Secrets) -> str:
    """Code, reason and text of an error on one line."""
    words = text.decode("utf-8", "replace").strip()
    with suppress(ValueError):
        parsed = from_json(words.encode())
        if isinstance(parsed, dict):
            words = str(parsed.get("error") or parsed.get("detail") or words)
    words = plain(secrets.redact(words), _LETTERS_OF_ERROR)
    line = f"HTTP {response.status_code} {plain(secrets.redact(response.reason_phrase))}"
    # once more: a part of a secret may be in the reason, the rest in the text
    return str(secrets.redact(f"{line}{words and ': ' + words}"))


def from_json(text: bytes) -> Any:
    """The content of JSON; a ValueError where it is none.

    NaN is no JSON, but often written. It is read, and refused where the users are known.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            # the message of the first one does not repeat the text
            raise error from None


def to_json(body: Any) -> bytes:
    """JSON of what may hold arrays."""
    return orjson.dumps(body, default=_plain_array, option=orjson.OPT_SERIALIZE_NUMPY)


def _plain_array(value: Any) -> Any:
    """What orjson does not write by itself: arrays of text, and parts of larger arrays."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind == "O" else np.ascontiguousarray(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
