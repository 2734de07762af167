"""Secrets that the environment holds: read when they are needed, refused where they would leak."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import quote

from fairrec.core.errors import InputError, plain
from fairrec.core.options import spelled
from fairrec.scoring.http.address import Address


def token_in(name: str | None, address: Address) -> str:
    """The token in a variable of this name; the empty text where none is named."""
    if name is None:
        return ""
    token = _content(name, "token_env", address)
    if not token.isascii() or " " in token:
        raise InputError(
            f"{spelled('token_env')}: what the variable holds is no token: it has blanks or "
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
            f"{spelled(option)}: the environment variable it names is not set, or is empty. Set it."
        )
    if not content.isprintable():
        raise InputError(
            f"{spelled(option)}: what the variable holds is no token or key: it has control "
            "characters. Set it to the secret alone."
        )
    if not (address.is_encrypted or address.is_this_machine):
        raise InputError(
            f"{spelled(option)}: its content would be readable for everyone on the way to "
            f"{plain(address.host)}. Give an address of https."
        )
    return content
