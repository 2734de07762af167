"""Paths and commands as a result shows them: it is passed on, and the auditor's folders are not."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from fairrec.core.errors import as_unicode

_OUTPUTS = ("--out", "--junit", "--summary")
_SWITCHES = ("--force",)
"""Options that change nothing in a result: with a path, and switches."""


def redact_path(path: str | Path) -> str:
    """A path within the working folder as it is; of any other the last name alone.

    >>> redact_path("data/recs.csv"), redact_path("/home/ann/recs.csv"), redact_path("../b/r.csv")
    ('data/recs.csv', 'recs.csv', 'r.csv')
    """
    straight = Path(os.path.normpath(path))
    is_outside = straight.is_absolute() or os.pardir in straight.parts
    return as_unicode(straight.name if is_outside else os.fspath(path))


def redact_command(command: str) -> str:
    """A command with its paths redacted, and without what it writes to.

    Where a result lies changes nothing in it, so it is the same wherever that is.

    >>> redact_command("fairrec audit /ann/recs.csv --users=../u.csv --out /tmp/a --force --by age")
    'fairrec audit recs.csv --users=u.csv --by age'
    >>> redact_command("fairrec.audit(predictions, by=['age'])")
    "fairrec.audit(predictions, by=['age'])"
    """
    try:
        words = shlex.split(command)
    except ValueError:  # no command of a shell
        return as_unicode(command)
    redacted = [*_redact_words(words)]
    return as_unicode(command if redacted == words else shlex.join(redacted))


def _redact_words(words: list[str]) -> Iterator[str]:
    is_output = False
    for word in words:
        flag, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        if not (is_output or flag in (*_OUTPUTS, *_SWITCHES)):
            yield f"{flag}{equals}{redact_path(value)}" if value else word
        is_output = word in _OUTPUTS
