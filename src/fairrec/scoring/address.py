"""The address of an endpoint, without what must not be shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fairrec.errors import InputError, plain

LOOPBACK = ("localhost", "127.0.0.1", "::1")


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
        raise InputError("--endpoint: this is no address. Give http://HOST/PATH.") from None
    if has_credentials:
        raise InputError(
            "--endpoint: the address holds a user name or a password, which would end up in the "
            "result. Leave them out and give a token by --token-env NAME."
        )
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(
            f"--endpoint {plain(text.partition('?')[0])}: no address of HTTP. Give "
            "http://HOST/PATH or https://HOST/PATH."
        )
    if not text.isprintable() or " " in text.strip():
        raise InputError("--endpoint: the address holds blanks or control characters.")
    path = parts.path.rstrip("/")
    return Address(
        f"{parts.scheme}://{parts.netloc}{path}", host, parts.scheme == "https", parts.query
    )
