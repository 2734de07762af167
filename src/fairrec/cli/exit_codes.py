"""How a command ends: errors in words, signals in order, an exit code for each."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread

import typer

from fairrec.cli.shared import ended_with_reader, say
from fairrec.core.errors import (
    FairRecError,
    OutputError,
    UnexpectedError,
    is_panic,
    keep_spellings,
    plain,
)

BAD_INPUT = 2
INTERRUPTED = 130
TERMINATED = 143
HUNG_UP = 129
_UNHEARD = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


@contextmanager
def errors_in_words(debug: bool) -> Iterator[None]:
    """A clear message and exit code 2, for what the user can fix and for what nobody foresaw."""
    try:
        with ended_with_reader(), _heard(), _ended_in_order():
            yield
    except KeyboardInterrupt as interrupt:
        words, code = _ENDINGS.get(interrupt.args[0] if interrupt.args else None, _INTERRUPT)
        say(words)
        raise typer.Exit(code) from interrupt
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except BaseException as error:
        # PanicException and SystemExit do not derive from Exception
        if debug or not (isinstance(error, Exception) or is_panic(error)):
            raise
        say(_in_words(error))
        raise typer.Exit(BAD_INPUT) from error


def _in_words(error: BaseException) -> str:
    """What is said of an error; one that is not of ours is a fault, except of disk and memory."""
    kind = type(error).__name__
    if isinstance(error, FairRecError):
        more = " Give the same command with --debug to see it."
        is_fault = isinstance(error, UnexpectedError)
        return f"{kind}: {keep_spellings(error)}{more if is_fault else ''}"
    reason = plain(error, 500)
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


_INTERRUPT = ("Interrupted.", INTERRUPTED)
_ENDINGS: dict[object, tuple[str, int]] = {signal.SIGTERM: ("Terminated.", TERMINATED)}
if hasattr(signal, "SIGHUP"):  # not on Windows
    _ENDINGS[signal.SIGHUP] = ("Hung up.", HUNG_UP)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Have signals that end a command clear away what is on its way, as Ctrl-C does."""
    ended_by: int | None = None

    def end(number: int, frame: object) -> None:
        nonlocal ended_by
        ended_by = number
        # once: what is cleared away then is not to be interrupted
        for each in ours:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt(number)

    is_main = current_thread() is main_thread()
    # one that is ignored, as by nohup, stays so
    ours: list[int] = [
        number
        for number in _ENDINGS
        if isinstance(number, int) and is_main and signal.getsignal(number) is signal.SIG_DFL
    ]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        # on its way out of Ray it becomes a plain one
        raise KeyboardInterrupt(ended_by) from interrupt
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _heard() -> Iterator[None]:
    """An error where what is printed reaches nobody: an outcome unheard is no all-clear."""
    if sys.stdout is None:
        raise OutputError("Standard output is closed. Lead it to a file, or to /dev/null.")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except FairRecError:
        raise
    except OSError as error:
        # errors of other files say which
        if error.filename is not None or error.errno not in _UNHEARD:
            raise
        with suppress(OSError, ValueError):
            # what is left is not tried again on the way out
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(
            f"Standard output cannot be written ({error.strerror}). Lead it elsewhere."
        ) from error
