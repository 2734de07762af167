"""Settings all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.scoring.http.served_world import FaultyServer, faulty_server

# tests run in parallel; threads of several processes on the same cores wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).parents[1]
# the child processes of tests import their helpers too
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
)

# a shell that runs the tests in the background has their interrupts ignored
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("fairrec", deadline=None, max_examples=50)
settings.load_profile("fairrec")

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever opens a browser or reads real data is slow."""
    for item in items:
        if {"browser", "movielens"} & {*getattr(item, "fixturenames", ())}:
            item.add_marker("slow")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyServer]:
    """The faulty server, one process for all tests of a worker."""
    with faulty_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def movielens() -> Path:
    """The folder of MovieLens-1M tables, for tests on real files."""
    folder = SHARED_DATA / "movielens-1m"
    if not folder.is_dir():
        pytest.skip(f"real data is not at {folder}")
    return folder
