"""What a server says where it gives no answer, in words that a user can act on."""

from __future__ import annotations

from contextlib import suppress

import httpx

from fairrec.core.errors import ScoringError, plain
from fairrec.core.options import Blank, spelled
from fairrec.scoring.http.json_text import from_json
from fairrec.scoring.http.patience import Fault, retry_after
from fairrec.scoring.http.secrets import HIDDEN, Secrets

_WORDS_OF_SERVER = 300
BYTES_OF_WORDS = 4 * _WORDS_OF_SERVER
"""As much of an error as is read."""
_TOO_MANY = 429
_TRY_AGAIN = frozenset({408, 425, _TOO_MANY})
_NEVER = frozenset({501, 505})
"""Not implemented, and another version of HTTP: no second try will change that."""


class Refusals:
    """Makes errors of replies that are no answers.

    Parameters
    ----------
    has_token : whether one was sent
    """

    def __init__(self, secrets: Secrets, has_token: bool) -> None:
        self._secrets, self._has_token = secrets, has_token

    def error(self, response: httpx.Response, text: bytes) -> Fault | ScoringError:
        """A fault that may be gone the next time, or an error that will not.

        Parameters
        ----------
        text : the first `BYTES_OF_WORDS` of what it says
        """
        code = response.status_code
        said, phrase = self._words(text), self._secrets.blanked(response.reason_phrase)
        # once more: a part may be in the one, the rest in the other
        words = self._secrets.blanked(f"HTTP {code} {plain(phrase)}{said and ': ' + said}")
        is_of_server = code >= httpx.codes.INTERNAL_SERVER_ERROR and code not in _NEVER
        if code in _TRY_AGAIN or is_of_server:
            wait = retry_after(response.headers.get("retry-after"))
            is_busy = code == _TOO_MANY or wait is not None
            return Fault(f"HTTP {code}", words, wait, is_busy)
        if response.is_redirect or 300 <= code < 400:
            target: str = self._secrets.blanked(response.headers.get("location", "nowhere"))
            shown = plain(target.partition("?")[0].rpartition("@")[2])
            return ScoringError(
                f"HTTP {code}: it redirects to {shown}, which is not followed, or ids and token "
                "would go to another host. If you trust it, give that address as "
                f"{spelled('endpoint')}"
            )
        return ScoringError(words + self._remedy(code))

    def _remedy(self, code: int) -> str:
        if code in (401, 403):
            return (
                f". The token given by {spelled('token_env')} is not accepted; see what its "
                "variable holds"
                if self._has_token
                else ". If it wants a token, name the variable that holds it: "
                f"{spelled('token_env', Blank('NAME'))}"
            )
        return {
            404: ". Check the address",
            413: f". Lower {spelled('rows_per_call')}",
            501: f". Check the address and {spelled('protocol')}",
        }.get(code, "")

    def _words(self, text: bytes) -> str:
        """What a server says of an error, on one line."""
        decoded = text.decode("utf-8", "replace")
        if len(text) >= BYTES_OF_WORDS and self._secrets.are_in(decoded):
            # what was cut off may end with a part of one
            return HIDDEN
        said = self._secrets.blanked(decoded).strip()
        with suppress(ValueError):
            parsed = from_json(said.encode())
            if isinstance(parsed, dict):
                said = str(parsed.get("error") or parsed.get("detail") or said)
        return plain(said, _WORDS_OF_SERVER)
