"""Errors a user can act on: each states what is wrong, where, and how to fix it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

PASSED, FAILED, BAD_INPUT, INCONCLUSIVE = range(4)
"""Exit codes of commands: of a gate its outcome; of others passed, a problem found, an error."""


class FairRecError(Exception):
    """Base of every error FairRec raises on purpose."""


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
    """A part of the work failed unexpectedly; the message names it."""


class OutputError(FairRecError, OSError):
    """The result cannot be written where it was asked for."""


def is_panic(error: BaseException) -> bool:
    """Whether a library in Rust gave up: each has such an error, and none is an `Exception`."""
    return type(error).__name__ == "PanicException"


def is_of_library(error: BaseException) -> bool:
    """Whether a library in Rust raised an error of its own."""
    return is_panic(error) or type(error).__module__.partition(".")[0] in ("polars", "safetensors")


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
    "control_features": "adjust_for",
    "metric": "metrics",
    "metrics": "metric",
    "n_jobs": "threads",
    "n_permutations": "permutations",
    "random_state": "seed",
    "sensitive_features": "by",
}
"""What an option is called elsewhere, where its own name is not the nearest."""


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant.

    >>> find_nearest("ndgc", ["mrr", "ndcg"]), find_nearest("random_state", ["by", "seed"])
    ('ndcg', 'seed')
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


def list_some(offenders: Sequence[object], total: int | None = None) -> str:
    """A few offenders and how many there are in all.

    >>> list_some(["u1", "u2", "u3", "u4", "u5"])
    "'u1', 'u2', 'u3' and 2 more"
    """
    total = len(offenders) if total is None else total
    first = ", ".join(plain(repr(offender)) for offender in offenders[:3])
    rest = total - min(3, len(offenders))
    return f"{first} and {rest:,} more" if rest else first


def as_unicode(text: str) -> str:
    """The text with what is not Unicode escaped: a path may be any bytes, a result may not."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
