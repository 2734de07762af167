"""An audit is killed or interrupted, and goes on later."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.end_to_end.command_line import run_here
from tests.scoring.http.served_world import (
    CANDIDATES,
    N_USERS,
    ROWS_PER_CALL,
    USERS,
    FaultyServer,
    answer_of,
    audit,
    in_process,
)

pytestmark = pytest.mark.slow
N_KILLS = int(os.environ.get("FAIRREC_KILLS", "2"))
"""Moments at which an audit is killed; `FAIRREC_KILLS=20` takes a minute or two."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    CANDIDATES.write_parquet(tmp_path / "candidates.parquet")
    USERS.write_parquet(tmp_path / "users.parquet")
    return tmp_path


def command(url: str, concurrency: int) -> list[str]:
    return [
        *("audit", "candidates.parquet"),
        *("--users", "users.parquet", "--by", "gender,age", "--metrics", "auc,mrr@5"),
        *("--permutations", "19", "--min-support", "5", "--threads", "1", "--no-report"),
        *("--endpoint", url, "--protocol", "json", "--rows-per-call", str(ROWS_PER_CALL)),
        *("--concurrency", str(concurrency), "--ledger", "ledger.db", "--out", "out"),
        *("--scorer-identity", "one model", "--quiet"),
    ]


def start(url: str, concurrency: int, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "fairrec", *command(url, concurrency)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def kept_in(folder: Path) -> set[str]:
    import sqlite3

    with sqlite3.connect(folder / "ledger.db") as connection:
        users = [user for (user,) in connection.execute("SELECT user FROM scored")]
    assert len(users) == len(set(users))
    return set(users)


def wait_for(server: FaultyServer, tag: str, n_batches: int, child: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while len(server.batches(tag)) < n_batches:
        assert child.poll() is None, child.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_killed_at_any_moment_nothing_is_lost_but_what_was_under_way(
    server: FaultyServer, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    url, tag = server.address("latency")
    concurrency = 4
    rng = np.random.default_rng(concurrency)
    kept: set[str] = set()
    n_lost_batches = 0
    n_kills = 0
    while n_kills < N_KILLS:
        before = len(server.batches(tag))
        with start(url, concurrency, folder) as child:
            # few at a time, so that there is something left for the last kill
            n_more = 1 + int(rng.integers(0, max(1, 60 // max(N_KILLS, 6))))
            wait_for(server, tag, before + n_more, child)
            time.sleep(rng.uniform(0, 0.03))
            child.kill()
        n_kills += 1
        time.sleep(0.05)
        asked = server.batches(tag)[before:]
        kept_now = kept_in(folder)
        assert kept <= kept_now, "scores were lost"
        assert not kept & {user for batch in asked for user in batch}, "paid for again"
        lost = [batch for batch in asked if not set(batch) <= kept_now]
        assert all(not set(batch) & kept_now for batch in lost), "half a batch was kept"
        assert len(lost) <= concurrency
        n_lost_batches += len(lost)
        kept = kept_now
        assert not (folder / "out").exists(), "the audit ended before it could be killed"
    before = len(server.batches(tag))
    monkeypatch.chdir(folder)
    last = run_here(*command(url, concurrency))
    assert last.code == 0, last.stderr
    asked = [user for batch in server.batches(tag)[before:] for user in batch]
    assert sorted(asked) == sorted({*USERS["user_id"]} - kept)
    assert asked, "nothing was left for the last run"
    assert 0 < len(kept) < N_USERS
    assert kept_in(folder) == {*USERS["user_id"]}

    unbroken = audit(in_process)
    assert answer_of(folder / "out/result.json") == answer_of(unbroken)
    assert pl.read_parquet(folder / "out/per_user.parquet").equals(unbroken.per_user)
    assert pl.read_parquet(folder / "out/groups.parquet").equals(unbroken.group_table)
    search = json.loads((folder / "out/result.json").read_text())["search"]
    assert search["spent_in_all"]["users"] == N_USERS
    assert search["users_before"] == len(kept)
