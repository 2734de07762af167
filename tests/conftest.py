"""Settings all tests share."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# tests run in parallel; threads of several processes on the same cores wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

# a shell that runs the tests in the background has their interrupts ignored
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("fairrec", deadline=None, max_examples=50)
settings.load_profile("fairrec")

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def movielens() -> Path:
    """The folder of MovieLens-1M tables, for tests on real files."""
    folder = SHARED_DATA / "movielens-1m"
    if not folder.is_dir():
        pytest.skip(f"real data is not at {folder}")
    return folder
