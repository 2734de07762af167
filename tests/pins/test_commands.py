"""Exit codes, what is wrong with bad input, and a ledger that keeps what was paid for."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.counts.small_counts import tables
from tests.end_to_end.command_line import run_here, write_tables
from tests.scoring.http.served_world import CANDIDATES, N_USERS, USERS, faulty_server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    return tmp_path


def test_exit_codes_of_a_gate(folder: Path):
    for name in ("predictions", "users"):
        tables()[name].write_parquet(f"{name}.parquet")
    options = ("--users", "users.parquet", "--by", "gender", "--metrics", "auc")
    ran = run_here(
        "audit", "predictions.parquet", *options, "--permutations", "199", "--out", "out"
    )
    assert ran.code == 0
    # women are worse by .297 to .392
    for limit, code in ((0.5, 0), (0.15, 1), (5, 2), (0.35, 3)):
        (folder / "policy.toml").write_text(f'[[rule]]\nmetric = "auc"\nmax_worse = {limit}\n')
        assert run_here("gate", "out", "--policy", "policy.toml").code == code


SERVED = (
    *("audit", "candidates.parquet", "--users", "them.parquet", "--by", "gender,age"),
    *("--metrics", "auc,mrr@5", "--permutations", "19", "--min-support", "5", "--no-report"),
    *("--protocol", "json", "--rows-per-call", "40", "--scorer-identity", "one model"),
    *("--ledger", "ledger.db", "--concurrency", "1", "--out", "out"),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_what_was_paid_is_kept_after_a_signal(folder: Path, ending: signal.Signals, code: int):
    CANDIDATES.write_parquet(folder / "candidates.parquet")
    USERS.write_parquet(folder / "them.parquet")
    with faulty_server(folder) as server:
        url, tag = server.address("latency")
        child = subprocess.Popen(
            [sys.executable, "-m", "fairrec", *SERVED, "--endpoint", url],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while len(server.batches(tag)) < 5:
            assert child.poll() is None and time.monotonic() < deadline
            time.sleep(0.002)
        child.send_signal(ending)
        assert child.wait(60) == code
        paid = server.batches(tag)
        with sqlite3.connect(folder / "ledger.db") as ledger:
            kept = {user for (user,) in ledger.execute("SELECT user FROM scored")}
        lost = [batch for batch in paid if not set(batch) <= kept]
        assert len(lost) <= 1
        assert not (folder / "out").exists()

        assert run_here(*SERVED, "--endpoint", url).code == 0
        again = server.batches(tag)[len(paid) :]
        assert not kept & {user for batch in again for user in batch}
        assert len(kept) + sum(map(len, again)) == N_USERS
