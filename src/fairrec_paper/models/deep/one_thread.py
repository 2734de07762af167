"""One thread for torch: several share every layer and wait for each other after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[int]:
    """Torch on one thread; yields how many it had.

    With the few rows of a step or a chunk waiting takes longer than the work, and many times as
    long where the cores have other work too.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield threads
    finally:
        torch.set_num_threads(threads)
