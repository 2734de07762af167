"""Paths and commands as a result tells them: it is passed on, the auditor's folders are not."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from fairrec.core.errors import as_unicode

_WHERE = ("--out", "--log")
_HOW = ("--force",)
"""Options that change nothing in a result: with a path, and switches."""


def told_path(path: str | Path) -> str:
    """A path within the working folder as it is; of any other the last name alone.

    >>> told_path("data/recs.csv"), told_path("/home/ann/acme/recs.csv"), told_path("../acme/r.csv")
    ('data/recs.csv', 'recs.csv', 'r.csv')
    """
    straight = Path(os.path.normpath(path))
    is_outside = straight.is_absolute() or os.pardir in straight.parts
    return as_unicode(straight.name if is_outside else os.fspath(path))


def told_command(command: str) -> str:
    """A command with its paths as they are told, and without what it writes to.

    Where a result lies changes nothing in it, so it is the same wherever that is.

    >>> told_command("fairrec audit /ann/recs.csv --users=../u.csv --out /tmp/a --force --by age")
    'fairrec audit recs.csv --users=u.csv --by age'
    >>> told_command("fairrec.audit(predictions, by=['age'])")
    "fairrec.audit(predictions, by=['age'])"
    """
    try:
        words = shlex.split(command)
    except ValueError:  # no command of a shell
        return as_unicode(command)
    told = [*_told(words)]
    return as_unicode(command if told == words else shlex.join(told))


def _told(words: list[str]) -> Iterator[str]:
    is_where = False
    for word in words:
        flag, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        if not (is_where or flag in (*_WHERE, *_HOW)):
            yield f"{flag}{equals}{told_path(value)}" if value else word
        is_where = word in _WHERE
