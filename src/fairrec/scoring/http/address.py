"""The address of an endpoint, without what must not be shown."""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fairrec.core.errors import InputError, plain
from fairrec.core.options import Blank, spelled

_DIGEST_ROUNDS = 200_000
"""Each guess at a secret in a query shall cost some time."""
_DIGEST_LETTERS = 12


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
    try:
        parts = urlsplit(text.strip())
        has_credentials = "@" in parts.netloc
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        # the text is not shown: a password may be what makes it odd
        raise InputError(
            f"invalid {spelled('endpoint')}: expected an address, http://HOST/PATH or "
            "https://HOST/PATH"
        ) from None
    if has_credentials:
        raise InputError(
            f"{spelled('endpoint')}: the address holds a user name or a password, which would "
            "end up in the result. Leave them out and give a token: "
            f"{spelled('token_env', Blank('NAME'))}"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(
            f"invalid {spelled('endpoint')}: expected an address, http://HOST/PATH or "
            f"https://HOST/PATH, got {plain(text.partition('?')[0])}"
        )
    if not text.isprintable() or " " in text.strip():
        raise InputError(
            f"invalid {spelled('endpoint')}: expected an address without blanks and control "
            "characters"
        )
    path = parts.path.rstrip("/")
    return Address(
        f"{parts.scheme}://{parts.netloc}{path}", host, parts.scheme == "https", parts.query
    )
