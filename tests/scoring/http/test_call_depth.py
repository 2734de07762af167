"""How many calls it is from the command to the client that asks an endpoint."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import fairrec
from fairrec.scoring.http_client import JsonClient
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
        if file.startswith(PACKAGE) and not file.endswith("call_repr.py"):
            found.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return found[::-1]


def answer_in_place(chains: list[list[str]]) -> Any:
    """Answers in place of `JsonClient.request`, and notes the calls by which it came to be asked.

    Where that was in a thread of its own, those come first that handed the call over to it: the
    queue between the two is no call.
    """

    def request(client: JsonClient, method: str, url: str, body: Any) -> Any:
        chain = calls_of(sys._getframe(1))
        main = threading.main_thread().ident
        if main is not None and threading.get_ident() != main:
            handing_over = calls_of(sys._current_frames()[main])
            assert chain.pop(0) == "Ledger._ask"
            chain = [*handing_over[: handing_over.index("Ledger._pay_at_once") + 1], *chain]
        chains.append(chain)
        return {"scores": in_process(body["user_id"], body["item_id"])}

    return request


@pytest.mark.parametrize("concurrency", [1, 4])
def test_from_the_command_to_the_client_it_is_not_far(
    concurrency: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    chains: list[list[str]] = []
    monkeypatch.setattr(JsonClient, "request", answer_in_place(chains))
    CANDIDATES.write_parquet("candidates.parquet")
    USERS.write_parquet("users.parquet")
    ran = run_here(
        *("audit", "candidates.parquet", "--users", "users.parquet", "--by", "gender"),
        *("--endpoint", "http://localhost/score", "--protocol", "json", "--permutations", "0"),
        *("--rows-per-call", str(ROWS_PER_CALL), "--concurrency", str(concurrency)),
    )
    assert ran.code == 0, ran.stderr
    assert len(chains) == N_CALLS
    for chain in chains:
        reads_options, command, *calls = chain
        assert (reads_options, command) == ("takes_options.<locals>.run", "audit_command")
        assert calls[-1] == "Endpoint.answer"
        assert ("Ledger._pay_at_once" in calls) == (concurrency > 1)
        assert len(calls) < MOST_CALLS, " -> ".join(chain)
        names = [call.rpartition(".")[2] for call in chain[1:]]
        assert len(set(names)) == len(names), "a name for two levels: " + " -> ".join(chain)
