"""A small world without scores, the server that knows them, and an audit of both."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import fairrec
from fairrec.report.audit_result import AuditResult
from tests.builders import numbers_of
from tests.scoring.http.faulty_server import score
from tests.worlds import random_users

N_USERS, N_CANDIDATES = 240, 8
ROWS_PER_CALL = 40
"""Five users a call, so that an audit makes 48 calls."""
N_CALLS = N_USERS * N_CANDIDATES // ROWS_PER_CALL
COSTS = ("users_paid", "users_before", "rows_paid", "calls", "seconds_scoring", "faults")
_tags = itertools.count()


def make_world() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Users and candidates; ids are text."""
    rng = np.random.default_rng(5)
    users = random_users(N_USERS, rng).with_columns(
        user_id=pl.format("u{}", "user_id"), years=pl.Series(rng.integers(18, 80, N_USERS))
    )
    items = [[f"i{i}" for i in rng.permutation(40)[:N_CANDIDATES]] for _ in range(N_USERS)]
    labels = [rng.permutation([1] + [0] * (N_CANDIDATES - 1)).tolist() for _ in range(N_USERS)]
    candidates = pl.DataFrame({"user_id": users["user_id"], "item_id": items, "label": labels})
    return users, candidates


USERS, CANDIDATES = make_world()


def in_process(user_ids: Any, item_ids: Any) -> list[float]:
    """The recommender as a Python function."""
    return [score(user, item) for user, item in zip(user_ids, item_ids, strict=True)]


def audit(scorer: Any, **options: Any) -> AuditResult:
    settings = {"metrics": "auc,mrr@5", "permutations": 19, "min_support": 5, "threads": 1}
    return fairrec.audit(
        CANDIDATES,
        users=USERS,
        by=["gender", "age"],
        scorer=scorer,
        **{**settings, "scorer_identity": "one model", **options},
    )


def answer_of(result: AuditResult | Path) -> dict[str, Any]:
    """All of a result but what it cost."""
    numbers = numbers_of(result)
    left_out = (*COSTS, "spent_in_all")
    numbers["search"] = {k: v for k, v in numbers["search"].items() if k not in left_out}
    return numbers


class FaultyServer:
    """The server process: its address, and what reached it."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "server.log"
        self.log.touch()
        self.port = 0
        self._begins: dict[str, int] = {}
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        """Start it, at the same port as before."""
        script = Path(__file__).with_name("faulty_server.py")
        self._process = subprocess.Popen(
            [sys.executable, script, str(self.port), self.log], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.communicate()

    def address(self, mode: str, path: str = "") -> tuple[str, str]:
        """A new address that misbehaves in a way, and its tag in the log."""
        tag = f"t{next(_tags)}"
        self._begins[tag] = self.log.stat().st_size
        return f"http://127.0.0.1:{self.port}/{mode}/{tag}{path}", tag

    def batches(self, tag: str) -> list[list[str]]:
        """The users of each batch that reached an address."""
        # those who wait ask often, and all tests of a worker share the log
        with self.log.open() as log:
            log.seek(self._begins.get(tag, 0))
            lines = (line.split() for line in log.read().splitlines())
        return [users for first, *users in lines if first == tag]


@contextmanager
def faulty_server(folder: Path) -> Iterator[FaultyServer]:
    server = FaultyServer(folder)
    try:
        yield server
    finally:
        server.kill()
