"""Compiled functions: one way to compile them, on any installation."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar
from uuid import uuid4

import numba
import numpy as np
from numba.core.caching import FunctionCache

from fairrec.core.arrays import FloatArray

F = TypeVar("F", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[F], F]:
    """A decorator that compiles a function when it is first called.

    The machine code is kept on disk for the next process, beside the source or in the user's
    cache folder; where neither can be written, or has room, every process compiles again.

    Parameters
    ----------
    options : of `numba.njit`
    """

    def compile_function(function: F) -> F:
        made = numba.njit(nogil=True, **options)(function)
        try:
            made._cache = _Kept(function)  # type: ignore[no-untyped-call]
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            _note_that_nothing_is_kept("no folder for them can be written")
        kept: F = made
        return kept

    return compile_function


class _Kept(FunctionCache):
    """Machine code on disk; a full disk costs the next process time, and this one nothing.

    Numba numbers its files, so of two processes that compile a function for different types at
    once, one may write its code under the number of the other's. Names of their own prevent that.
    """

    def save_overload(self, signature: Any, data: Any) -> None:
        file = self._cache_file
        file._data_name_pattern = f"{file._index_name}.{{number}}-{uuid4().hex}.nbc"
        try:
            super().save_overload(signature, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            _note_that_nothing_is_kept(str(error.strerror))


@cache
def _note_that_nothing_is_kept(reason: str) -> None:
    """Once a process; nothing in the calling program is wrong, so it is no warning of Python's."""
    logging.getLogger("fairrec").warning(
        "Note: compiled kernels cannot be kept (%s), neither beside the installation of FairRec "
        "nor in a cache folder of the user, so every process compiles them again, which takes "
        "some seconds. Set NUMBA_CACHE_DIR to a folder that can be written to keep them.",
        reason,
    )


kernel = compiled()


@kernel
def _first(values: FloatArray) -> None:
    """Does nothing."""


def make_ready() -> None:
    """Load all that the first call of a compiled function loads, which takes a while."""
    _first(np.zeros(1))
