"""How a command ends: errors in words, and an exit code for each."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from fairrec.cli.shared import say
from fairrec.core.errors import BAD_INPUT, FairRecError, OutputError, is_panic, plain
from fairrec.core.options import spelled_for
from fairrec.core.signals import RECEIVED


@contextmanager
def errors_in_words(debug: bool) -> Iterator[None]:
    """A clear message and exit code 2, for what the user can fix and for what is unexpected."""
    try:
        if sys.stdout is None:
            raise OutputError("Standard output is closed. Lead it to a file, or to /dev/null.")
        with spelled_for(None):
            yield
    except KeyboardInterrupt as interrupt:
        say("Interrupted.")
        raise typer.Exit(128 + (RECEIVED.pop() if RECEIVED else signal.SIGINT)) from interrupt
    except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
        raise
    except BaseException as error:
        # PanicException and SystemExit do not derive from Exception
        if debug or not (isinstance(error, Exception) or is_panic(error)):
            raise
        say(_describe(error))
        raise typer.Exit(BAD_INPUT) from error


def _describe(error: BaseException) -> str:
    """The message for an error; one that is not of ours is a fault, except of disk and memory."""
    kind, reason = type(error).__name__, plain(error, 500)
    if isinstance(error, FairRecError):
        return f"{kind}: {error}"
    if isinstance(error, MemoryError):
        return (
            f"{kind}: there is not enough memory ({reason or 'none left'}). Name fewer attributes, "
            "look at less depth, or take a larger machine."
        )
    if isinstance(error, OSError) and error.errno is not None:
        where = "" if error.filename is None else f"{plain(error.filename, 300)}: "
        return f"{kind}: {where}{error.strerror}. Check the place and its room; --debug shows more."
    return (
        f"UnexpectedError: {kind}: {reason}. This is a fault of FairRec and not of your data. "
        "Give the same command with --debug, and report what it shows."
    )
