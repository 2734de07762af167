"""What is printed reaches a terminal as text: paths and names of the user's are in it too.

Where nobody reads it any more, a command ends as Unix tools do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from fairrec.core.errors import plain

UNREAD = 141
"""The exit code of a command whose pipe nobody reads any more: 128 and the number of SIGPIPE."""
_UsageError: Any = typer.BadParameter.__base__
"""Of click, or of the copy of it that newer versions of typer have."""


def shown(message: str) -> str:
    r"""A message in its lines, with what a terminal would act on escaped.

    >>> print(shown("Written to \x1b[31mout:\nresult.json"))
    Written to \x1b[31mout:
    result.json
    """
    return "\n".join(plain(line, sys.maxsize) for line in message.split("\n"))


class ShownConsole(Console):
    """A console that sends the codes of its own styles and no others."""

    def print(self, *objects: Any, **how: Any) -> None:
        """Print as `Console.print` does."""
        super().print(*map(_as_text, objects), **how)


class ShownGroup(TyperGroup):
    """Commands; a complaint about a word that is none of them is shown too."""

    def make_context(self, *words: Any, **how: Any) -> Any:
        """Take the words before a command apart, as `TyperGroup` does."""
        with ended_with_reader(), shown_complaints():
            return super().make_context(*words, **how)

    def resolve_command(self, *words: Any) -> Any:
        """Find the command, as `TyperGroup` does."""
        with shown_complaints():
            return super().resolve_command(*words)


@contextmanager
def ended_with_reader() -> Iterator[None]:
    """End without a word where nobody reads what is printed, as after `head`."""
    try:
        yield
    except BrokenPipeError as error:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            try:
                stream.flush()
            except BrokenPipeError:
                # what is left is not tried again on the way out
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise typer.Exit(UNREAD) from error


@contextmanager
def shown_complaints() -> Iterator[None]:
    """Show what is not understood in the words of a command."""
    try:
        yield
    except _UsageError as error:
        error.message = shown(error.message)
        raise


def _as_text(part: Any) -> Any:
    if isinstance(part, Text) and shown(part.plain) != part.plain:
        # its styles would be at other places then
        return Text(shown(part.plain), style=part.style)
    return part
