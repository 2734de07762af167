"""What runs on a worker of Ray.

Function, parts and results cross as bytes that are pickled here and not by Ray, whose arrays share
memory and cannot be written to: what works in this process works on a worker too.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from fairrec.core.engines.engine import in_words
from fairrec.core.errors import FairRecError, InputError
from fairrec.core.options import from_command_line, is_command_line, spelled
from fairrec.core.version import __version__

THREADS = 1
"""Of one part: Ray gives each worker a CPU and knows nothing of what libraries do besides."""
_KEPT = 2


class UnforeseenError(Exception):
    """What nobody foresaw, in words; Ray runs the task again, and may have more luck."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker must know beside the function and what it is called with.

    Parameters
    ----------
    key : of the function, to which it is loaded once a worker
    versions : of what numbers depend on, where the results are taken
    is_command_line : how errors spell options
    """

    key: str
    versions: dict[str, str]
    is_command_line: bool

    @classmethod
    def of(cls, key: str) -> Setup:
        """As it is in this process."""
        return cls(key, versions(), is_command_line())


@cache
def versions() -> dict[str, str]:
    """The versions of what numbers depend on.

    >>> sorted(versions())
    ['Python', 'fairrec', 'numba', 'numpy', 'polars']
    """
    packages = {name: version(name) for name in ("numba", "numpy", "polars")}
    return {"Python": platform.python_version(), "fairrec": __version__, **packages}


_functions: dict[str, Callable[..., Any]] = {}


def run(setup: Setup, function: bytes, *inputs: bytes) -> tuple[None, bytes]:
    """Call a function, and give nothing and its result: that one is done is known without it."""
    from ray import cloudpickle

    # before polars is loaded, which looks once
    os.environ.setdefault("POLARS_MAX_THREADS", str(THREADS))
    _refuse_other_versions(setup.versions)
    with from_command_line() if setup.is_command_line else nullcontext():
        try:
            if setup.key not in _functions:
                while len(_functions) >= _KEPT:
                    del _functions[next(iter(_functions))]
                _functions[setup.key] = cloudpickle.loads(function)
            result = _functions[setup.key](*map(cloudpickle.loads, inputs))
            return None, cloudpickle.dumps(result)
        except FairRecError:
            raise
        except Exception as error:
            raise UnforeseenError(in_words(error)) from error


def _refuse_other_versions(there: dict[str, str]) -> None:
    here = versions()
    if differ := [name for name in there if here[name] != there[name]]:
        which = ", ".join(f"{name} {here[name]} instead of {there[name]}" for name in differ)
        raise InputError(
            f"{spelled('engine', 'ray')}: a worker has {which}; the numbers could differ. "
            "Install the same versions on all nodes."
        )
