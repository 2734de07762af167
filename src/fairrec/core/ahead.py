"""Work begun before it is needed, in a thread beside what has to be waited for.

Reading a large table hardly needs the interpreter; loading modules needs little else.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from threading import Thread


def load_ahead(*modules: str) -> None:
    """Begin to load modules, one after the other; whoever imports one waits for it."""
    do_ahead(lambda: [import_module(name) for name in modules])


def do_ahead(work: Callable[[], object]) -> None:
    """Begin with something that keeps its own result for later.

    An error is not told: whoever needs the result meets it again.
    """

    def quietly() -> None:
        with suppress(Exception):
            work()

    Thread(target=quietly, name="ahead").start()
