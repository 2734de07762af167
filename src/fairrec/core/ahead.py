"""Work begun before it is needed, in a thread beside what has to be waited for.

Reading a large table hardly needs the interpreter; loading modules needs little else.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread


def do_ahead(work: Callable[[], object]) -> None:
    """Begin with something that keeps its own result for later.

    An error is not told: whoever needs the result meets it again.
    """

    def quietly() -> None:
        with suppress(Exception):
            work()

    Thread(target=quietly, name="ahead").start()
