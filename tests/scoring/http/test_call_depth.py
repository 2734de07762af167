"""How many calls it is from the command to the client that asks an endpoint."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from types import FrameType

import httpcore
import pytest

import fairrec
from tests.end_to_end.command_line import run_here
from tests.scoring.http.served_world import CANDIDATES, N_CALLS, ROWS_PER_CALL, USERS, in_process

PACKAGE = str(Path(fairrec.__file__).parent)
MOST_CALLS = 10


def calls_of(frame: FrameType | None) -> list[str]:
    """The functions of FairRec on a stack, the outermost first.

    But for what stands around the audit to see which options are given.
    """
    found = []
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(PACKAGE) and not file.endswith("planned.py"):
            found.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return found[::-1]


class NotingPool:
    """Answers in place of connections, and notes the calls by which it came to be asked.

    Where that was in a thread of its own, those come first that handed the call over to it: the
    queue between the two is no call.
    """

    chains: list[list[str]]

    def __init__(self, **_: object) -> None: ...

    def close(self) -> None: ...

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        *chain, put_in_secrets = calls_of(sys._getframe())
        assert put_in_secrets == "TransportWithSecrets.handle_request", "called by httpx, not by us"
        main = threading.main_thread().ident
        if main is not None and threading.get_ident() != main:
            handing_over = calls_of(sys._current_frames()[main])
            assert chain.pop(0) == "SideBySide._serve"
            chain = [*handing_over[: handing_over.index("SideBySide.run") + 1], *chain]
        self.chains.append(chain)
        columns = json.loads(b"".join(request.stream))
        scores = in_process(columns["user_id"], columns["item_id"])
        text = json.dumps({"scores": scores}).encode()
        return httpcore.Response(200, headers={"Content-Type": "application/json"}, content=text)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_from_the_command_to_the_client_it_is_not_far(
    concurrency: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(NotingPool, "chains", [], raising=False)
    monkeypatch.setattr(httpcore, "ConnectionPool", NotingPool)
    CANDIDATES.write_parquet("candidates.parquet")
    USERS.write_parquet("users.parquet")
    ran = run_here(
        *("audit", "candidates.parquet", "--users", "users.parquet", "--by", "gender"),
        *("--endpoint", "http://localhost/score", "--protocol", "json", "--permutations", "0"),
        *("--rows-per-call", str(ROWS_PER_CALL), "--concurrency", str(concurrency)),
    )
    assert ran.code == 0, ran.stderr
    assert len(NotingPool.chains) == N_CALLS
    for chain in NotingPool.chains:
        reads_options, command, *calls = chain
        assert (reads_options, command) == ("takes_options.<locals>.run", "audit_command")
        assert calls[-1] == "JsonClient.request"
        assert ("SideBySide.run" in calls) == (concurrency > 1)
        assert len(calls) <= MOST_CALLS, " -> ".join(chain)
        names = [call.rpartition(".")[2] for call in chain[1:]]
        assert len(set(names)) == len(names), "a name for two levels: " + " -> ".join(chain)
