"""Errors a user can act on: each says what is wrong, where, and how to fix it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from fairrec.core.threads import refuse_lost_threads


class FairRecError(Exception):
    """Base of every error FairRec raises on purpose.

    Its first argument may hold `both_spellings` of options; as text it has those of Python.
    `keep_spellings` has both, for the text of another error.
    """

    def __str__(self) -> str:
        return as_python(super().__str__())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


def both_spellings(python: str, flags: str) -> str:
    r"""Text that reads otherwise in Python than on the command line.

    Outside text cannot be taken for it: `plain` escapes the signs around it.

    >>> as_python("Lower " + both_spellings("depth", "--depth"))
    'Lower depth'
    """
    return f"\x02{python}\x1f{flags}\x03"


_SPELLINGS = re.compile("\x02([^\x1f]*)\x1f([^\x03]*)\x03")


def keep_spellings(error: BaseException) -> str:
    """The text of an error with both spellings of options, where it is one of ours."""
    return Exception.__str__(error) if isinstance(error, FairRecError) else str(error)


def as_python(text: str) -> str:
    """The text with options as keywords of Python."""
    return _SPELLINGS.sub(r"\1", text)


def as_flags(text: str) -> str:
    """The text with options as flags of the command line."""
    return _SPELLINGS.sub(r"\2", text)


class InputError(FairRecError, ValueError):
    """A table, column, row or option cannot be used as it is."""


class NothingToMitigateError(FairRecError, ValueError):
    """No group is found to be served worse, so that there is no list to re-rank."""


class UnknownNameError(FairRecError, ValueError):
    """A name that is not known; the message offers the nearest one."""


class MetricError(FairRecError, ValueError):
    """A metric returned something other than one number per user."""


class ScoringError(FairRecError, RuntimeError):
    """A model failed, or returned something other than one number per candidate."""


class UnavailableError(ScoringError):
    """A model has no answer for now; the same question may get one later."""


class TimeOverError(UnavailableError):
    """The time that may be spent on a model is over before it had an answer."""


class PartError(FairRecError, RuntimeError):
    """A part of the work failed in a way that nobody foresaw; the message names it."""


class OutputError(FairRecError, OSError):
    """The result cannot be written where it was asked for."""


class ForkError(FairRecError, RuntimeError):
    """The process was forked, and has none of the threads that it would wait for."""


class UnexpectedError(FairRecError, RuntimeError):
    """Something failed that nobody foresaw: a fault of FairRec, or of a library it rests on."""


def is_panic(error: BaseException) -> bool:
    """Whether a library in Rust gave up: each has such an error, and none is an `Exception`."""
    return type(error).__name__ == "PanicException"


@contextmanager
def errors_of_libraries() -> Iterator[None]:
    """Around a function, or within one: what a library in Rust raises is an error of ours."""
    refuse_lost_threads()
    try:
        yield
    except TypeError as error:
        for name, twin in TWINS.items():
            if f"unexpected keyword argument '{name}'" in str(error):
                raise TypeError(f"{error}. Did you mean '{twin}'?") from error
        raise
    except BaseException as error:
        library = type(error).__module__.partition(".")[0]
        if not is_panic(error) and library not in _LIBRARIES:
            raise
        raise UnexpectedError(
            f"A library failed in a way that nobody foresaw ({type(error).__name__}: "
            f"{plain(error, 300)}). This is a fault of FairRec and not of your data: please report "
            "it with its traceback."
        ) from error


_LIBRARIES = ("polars", "safetensors")
TWINS = {"metric": "metrics", "metrics": "metric"}
"""Options that are easily taken for one another: the command line understands both."""


LONGEST_TEXT = 80
MOST_NAMES = 30


def plain(text: object, longest: int = LONGEST_TEXT) -> str:
    r"""Outside text on one line: what a terminal would act on is escaped, long text cut.

    >>> print(plain("a\nb"))
    a\nb
    """
    raw = str(text)
    shown = raw if raw.isprintable() else "".join(map(_shown, raw, f" {raw}", f"{raw[1:]} "))
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _shown(character: str, before: str, after: str) -> str:
    """A character, escaped if it is not seen; joiners stay in emoji and other scripts."""
    joins = character in "\u200c\u200d" and not (before.isascii() or after.isascii())
    is_seen = character.isprintable() or joins
    return character if is_seen else character.encode("unicode_escape").decode()


def listed(names: Iterable[object]) -> str:
    """Names with commas; of very many the first, and how many more.

    >>> listed(["a", "b"])
    'a, b'
    """
    all_names = list(names)
    shown = ", ".join(plain(name, 40) for name in all_names[:MOST_NAMES])
    more = len(all_names) - MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for an unknown name, with the nearest known one.

    >>> print(unknown_name("metric", "ndgc", ["mrr", "ndcg"]))
    No metric 'ndgc'. Did you mean 'ndcg'? Known: mrr, ndcg.
    """
    names = sorted(known)
    by_lower = {known_name.lower(): known_name for known_name in names}
    nearest = difflib.get_close_matches(name.lower(), by_lower, n=1)
    hint = f" Did you mean '{plain(by_lower[nearest[0]])}'?" if nearest else ""
    return UnknownNameError(f"No {kind} '{plain(name)}'.{hint} Known: {listed(names)}.")


def list_some(offenders: Sequence[object], total: int | None = None, shown: int = 3) -> str:
    """A few offenders and how many there are in all.

    >>> list_some(["u1", "u2", "u3", "u4", "u5"])
    "'u1', 'u2', 'u3' and 2 more"
    """
    total = len(offenders) if total is None else total
    first = ", ".join(plain(repr(offender)) for offender in offenders[:shown])
    rest = total - min(shown, len(offenders))
    return f"{first} and {rest:,} more" if rest else first


def as_unicode(text: str) -> str:
    """The text with what is not Unicode escaped: a path may be any bytes, a result may not."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
