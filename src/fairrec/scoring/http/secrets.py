"""What must not be shown, and its blanking in whatever a server says."""

from __future__ import annotations

import base64
import codecs
import html
import logging
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

_SHORTEST = 4
"""Shorter values of a query, such as `v=2`, are no secrets, and occur in any text."""
_SHORTEST_DISGUISED = 8
"""Shorter values in an address, such as `format=json`, are not looked for in disguise."""
_ROUNDS = 4
"""How often a text may be encoded over again."""
HIDDEN = "(not shown: it repeats a secret)"
_ESCAPE = re.compile(
    r"\\+u([0-9a-fA-F]{4})|\\+U([0-9a-fA-F]{8})|(?:\\+x|0x)([0-9a-fA-F]{2})", re.ASCII
)
_BETWEEN = re.compile(r"[\W_]+")


class Secrets:
    """A token and a query, kept out of texts that come back from a server.

    As they are, they are blanked out. A text that holds one in disguise is not shown at all:
    percent, JSON and HTML escapes, base64, hexadecimal and other codes, other letters' case,
    backwards, letters set apart.

    Parameters
    ----------
    query : as it is sent
    kept : values that are secrets for certain, however short: a token, keys of the environment

    Examples
    --------
    >>> secrets = Secrets("key=abcd", ["t0ken-8dd1"])
    >>> secrets.blanked("Bearer t0ken-8dd1 for ?key=abcd"), secrets.blanked("T0KEN 8DD1")
    ('Bearer *** for ?***', '(not shown: it repeats a secret)')
    """

    def __init__(self, query: str = "", kept: Iterable[str] = ()) -> None:
        values = [value for _, value in parse_qsl(query) if len(value) >= _SHORTEST]
        known = [*filter(None, kept)]
        all_forms = {*known, query, *values, *map(quote, [*known, *values])}
        # the longest first, or a part of it would be left
        self._texts = sorted(filter(None, all_forms), key=len, reverse=True)
        hidden = {*known, *(value for value in values if len(value) >= _SHORTEST_DISGUISED)}
        forms = {_letters(form) for secret in hidden for form in _disguises(secret)}
        self._disguises = sorted(form for form in forms if len(form) >= _SHORTEST)

    def are_in(self, text: str) -> bool:
        """Whether a text holds one of them, as it is or in disguise."""
        return any(secret in text for secret in self._texts) or any(
            form in letters for letters in _readings(text) for form in self._disguises
        )

    def blanked(self, said: Any) -> Any:
        """Text, or JSON with text in it, without them; numbers stay as they are."""
        if not self._texts:
            return said
        if isinstance(said, str):
            for secret in self._texts:
                said = said.replace(secret, "***")
            return HIDDEN if self.are_in(said) else said
        # all texts together: it may be spread over several
        if not self.are_in(" ".join(_texts_in(said))):
            return said
        try:
            blanked = self._parts_blanked(said)
        except RecursionError:
            return HIDDEN
        return HIDDEN if self.are_in(" ".join(_texts_in(blanked))) else blanked

    def _parts_blanked(self, said: Any) -> Any:
        if isinstance(said, list):
            return [self._parts_blanked(one) for one in said]
        if isinstance(said, dict):
            return {self.blanked(name): self._parts_blanked(one) for name, one in said.items()}
        return self.blanked(said) if isinstance(said, str) else said

    def blank_error(self, error: BaseException | None) -> None:
        """Take them out of an error and those behind it, which a traceback shows."""
        while error is not None:
            error.args = tuple(
                self.blanked(one if isinstance(one, int) else str(one)) for one in error.args
            )
            error = error.__cause__ or error.__context__


class SecretsFilter(logging.Filter):
    """Blanks them in the log of a library, which writes whole headers of replies."""

    def __init__(self, secrets: Secrets) -> None:
        super().__init__()
        self._secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without secrets."""
        record.msg, record.args = self._secrets.blanked(record.getMessage()), ()
        return True


def _letters(text: str) -> str:
    """Letters and digits alone, in one case and one form."""
    return _BETWEEN.sub("", unicodedata.normalize("NFKC", text)).casefold()


def _readings(text: str) -> Iterator[str]:
    """The letters of a text as it is, and with its escapes resolved again and again."""
    yield _letters(text)
    for _ in range(_ROUNDS):
        before = text
        for resolve in (_unescaped, unquote, html.unescape):
            text = resolve(text)
            if text != before:
                yield _letters(text)
        if text == before:
            return


def _unescaped(text: str) -> str:
    def letter(found: re.Match[str]) -> str:
        code = int("".join(filter(None, found.groups())), 16)
        return chr(code) if code <= sys.maxunicode else ""

    return _ESCAPE.sub(letter, text)


def _disguises(secret: str) -> Iterator[str]:
    """Other ways to write a secret that are no escapes of single letters."""
    raw = secret.encode()
    yield secret
    yield secret[::-1]
    yield raw.hex()
    yield codecs.encode(secret, "rot13")
    yield base64.b32encode(raw).decode()
    for base in (10, 8, 2):
        yield "".join(map({10: "{}", 8: "{:o}", 2: "{:08b}"}[base].format, raw))
    for n_before in range(3):
        # what stands before it shifts its letters, and shares the first and the last one
        text = base64.b64encode(b"\0" * n_before + raw).decode()
        yield text[-(-8 * n_before // 6) : 8 * (n_before + len(raw)) // 6]


def _texts_in(said: Any) -> Iterator[str]:
    """All texts of JSON, in order and however deep."""
    left = [said]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            left += [part for part in reversed(one) if not isinstance(part, float)]
        elif isinstance(one, dict):
            for name, part in reversed(one.items()):
                left += [part, name]
