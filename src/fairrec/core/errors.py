"""Errors a user can act on: each says what is wrong, where, and how to fix it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ContextDecorator
from inspect import signature
from typing import Any, TypeVar

from fairrec.core.threads import refuse_lost_threads

F = TypeVar("F", bound=Callable[..., Any])


class FairRecError(Exception):
    """Base of every error FairRec raises on purpose.

    Its first argument may hold `both_spellings` of options; as text it has those of Python.
    `keep_spellings` has both, for the text of another error.
    """

    parameters: Collection[str] = ()
    """Those of the public function that raised it, by which options are spelled."""

    def __str__(self) -> str:
        return as_python(super().__str__(), self.parameters)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


def both_spellings(python: str, flags: str, name: str = "") -> str:
    r"""Text that reads otherwise in Python than on the command line.

    Outside text cannot be taken for it: `plain` escapes the signs around it.

    Parameters
    ----------
    name : the option whose value the text is

    >>> text = "Lower " + both_spellings("2", "--depth 2", name="depth")
    >>> as_python(text), as_flags(text)
    ('Lower depth=2', 'Lower --depth 2')
    """
    return f"\x02{name}\x1e{python}\x1f{flags}\x03"


_SPELLINGS = re.compile("\x02([^\x1e]*)\x1e([^\x1f]*)\x1f([^\x03]*)\x03")
GROUPED: dict[str, tuple[str, Collection[str]]] = {}
"""Parameters of public functions that take several options as one value: its class, and the names
of these options."""


def as_python(text: str, parameters: Collection[str] = ()) -> str:
    """The text with options as arguments of Python.

    Parameters
    ----------
    parameters : those of the function that is called; options that it takes in a grouped value
        stand in that
    """

    def write(spelling: re.Match[str]) -> str:
        name, value = spelling[1], spelling[2]
        if not (name and value):
            return name or value
        return place_option(name, parameters).replace("...", value, 1)

    return _SPELLINGS.sub(write, text)


def place_option(name: str, parameters: Collection[str]) -> str:
    """The argument that gives a function an option, with `...` for its value.

    >>> place_option("depth", ["depth", "seed"])
    'depth=...'
    """
    groups = {one: GROUPED[one] for one in parameters if one in GROUPED}
    # where two have it, the one that has little else
    homes = [one for one in groups if name in groups[one][1]]
    home = min(homes, key=lambda one: len(groups[one][1]), default="")
    if not home or (name in parameters and name != home):
        return f"{name}=..."
    return f"{home}=fairrec.{groups[home][0]}({name}=...)"


def as_flags(text: str) -> str:
    """The text with options as flags of the command line."""
    return _SPELLINGS.sub(r"\3", text)


def keep_spellings(error: BaseException) -> str:
    """The text of an error with both spellings of options, where it is one of ours."""
    return Exception.__str__(error) if isinstance(error, FairRecError) else str(error)


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


def is_of_library(error: BaseException) -> bool:
    """Whether a library in Rust raised an error of its own."""
    return is_panic(error) or type(error).__module__.partition(".")[0] in ("polars", "safetensors")


class errors_of_libraries(ContextDecorator):  # noqa: N801
    """A decorator of public functions, after which every error is one of ours or Python's.

    An argument that the function does not take gets a hint at the option that was meant, and
    errors spell options as the function takes them.
    """

    name = ""
    parameters: Collection[str] = ()

    def __call__(self, function: F) -> F:
        """The function with these errors."""
        self.name, self.parameters = function.__name__, tuple(signature(function).parameters)
        return super().__call__(function)

    def __enter__(self) -> None:
        refuse_lost_threads()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FairRecError):
            error.parameters = error.parameters or self.parameters
        elif isinstance(error, TypeError) and (found := _UNEXPECTED.match(str(error))):
            # not where one of the caller's functions is meant
            if found[1] == self.name:
                hint = _hint_at_option(found[2], self.parameters)
                raise TypeError(f"{found[0]}.{hint}") from error
        elif error is not None and is_of_library(error):
            raise UnexpectedError(
                f"A library failed in a way that nobody foresaw ({type(error).__name__}: "
                f"{plain(error, 300)}). This is a fault of FairRec and not of your data: please "
                "report it with its traceback."
            ) from error


_UNEXPECTED = re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'")


def _hint_at_option(name: str, parameters: Collection[str]) -> str:
    """Which option of a function was meant, and where it lives."""
    grouped = [one for group in parameters if group in GROUPED for one in GROUPED[group][1]]
    nearest = find_nearest(name, [*parameters, *grouped])
    return f" Did you mean {place_option(nearest, parameters)}?" if nearest else ""


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


SYNONYMS = {
    **{"metric": "metrics", "metrics": "metric", "given": "adjust_for", "matters": "tolerance"},
    **{"control_features": "adjust_for", "sensitive_features": "by", "random_state": "seed"},
    **{"n_jobs": "threads", "n_permutations": "permutations"},
}
"""What an option is called elsewhere, where its own name is not the nearest."""


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant.

    >>> find_nearest("ndgc", ["mrr", "ndcg"]), find_nearest("given", ["by", "adjust_for"])
    ('ndcg', 'adjust_for')
    """
    by_lower = {one.lower(): one for one in known}
    synonyms = [SYNONYMS.get(name.lower(), "")]
    nearest = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return next((by_lower[one] for one in [*synonyms, *nearest] if one in by_lower), None)


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for an unknown name, with the nearest known one.

    >>> print(unknown_name("metric", "ndgc", ["mrr", "ndcg"]))
    No metric 'ndgc'. Did you mean 'ndcg'? Known: mrr, ndcg.
    """
    names = sorted(known)
    nearest = find_nearest(name, names)
    hint = f" Did you mean '{plain(nearest)}'?" if nearest else ""
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
