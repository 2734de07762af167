"""No secret in any output, log, ledger or traceback."""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path

import pytest

import fairrec
from fairrec.core.errors import FairRecError
from fairrec.search.options import SearchOptions
from tests.end_to_end.command_line import run_here, run_process
from tests.scoring.http.served_world import (
    CANDIDATES,
    ROWS_PER_CALL,
    USERS,
    FaultyServer,
    audit,
)

TOKEN = "s3cr3t-t0ken-8dd1"
QUERY = "s3cr3t-query"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    CANDIDATES.write_parquet(tmp_path / "candidates.parquet")
    USERS.write_parquet(tmp_path / "users.parquet")
    return tmp_path


COMMAND = (
    *("audit", "candidates.parquet", "--users", "users.parquet", "--by", "gender"),
    *("--permutations", "9", "--protocol", "json", "--rows-per-call", str(ROWS_PER_CALL)),
    *("--ledger", "ledger.db", "--out", "out", "--retries", "1", "--token-env", "RANKER_TOKEN"),
    *("--log", "log.txt"),
)


def refuse_secrets(folder: Path, *texts: str) -> None:
    """Look for the secrets in texts and in every byte of a folder."""
    for secret in (TOKEN, QUERY):
        for text in texts:
            assert secret not in text
        for path in folder.rglob("*"):
            assert secret not in str(path)
            if path.is_file():
                assert secret.encode() not in path.read_bytes(), path.name


@pytest.mark.parametrize(
    ("mode", "code", "debug"),
    [
        ("locked", 0, ()),
        ("echo", 2, ()),
        ("echo-500", 1, ("--debug",)),
        ("echo-scores", 1, ("--debug",)),
    ],
)
def test_no_secret_gets_out(
    mode, code, debug, server: FaultyServer, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    url, _ = server.address(mode)
    command = (*COMMAND, "--endpoint", f"{url}?key={QUERY}", *debug)
    if debug:
        # how a traceback is shown is up to the process
        ran = run_process(*command, folder=folder, environment={"RANKER_TOKEN": TOKEN})
        assert "Traceback" in ran.stderr
    else:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("RANKER_TOKEN", TOKEN)
        monkeypatch.setattr(sys, "argv", ["fairrec", *command])
        ran = run_here(*command)
    assert ran.code == code, ran.stderr
    refuse_secrets(folder, ran.stdout, ran.stderr, *ran.progress)
    assert "fairrec" in (folder / "log.txt").read_text()
    assert (folder / "ledger.db").exists()
    if code == 0:
        assert f"{url}?***" in (folder / "out/result.json").read_text()


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("echo", "HTTP 400"),
        ("echo-500", "HTTP 500"),
        ("echo-scores", r"no number, such as 'Bearer \*\*\*'"),
        ("redirect", "it redirects to"),
    ],
)
def test_no_secret_is_logged_or_shown_in_python(
    mode, says, server: FaultyServer, monkeypatch, caplog, tmp_path
):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("RANKER_TOKEN", TOKEN)
    url, _ = server.address(mode)
    model = fairrec.Endpoint(
        f"{url}?key={QUERY}",
        protocol="json",
        token_env="RANKER_TOKEN",
        rows_per_call=ROWS_PER_CALL,
        retries=1,
        first_wait=0.01,
    )
    with pytest.raises(FairRecError, match=says) as caught:
        audit(model, search=SearchOptions("exact", ledger=tmp_path / "ledger.db"))
    error: BaseException | None = caught.value
    words = ["".join(traceback.format_exception(error)), repr(model)]
    while error is not None:
        words += [str(error), repr(error), repr(getattr(error, "args", ()))]
        request = getattr(error, "_request", None)
        words += [f"{request.url} {request.headers.raw}"] if request is not None else []
        error = error.__cause__ or error.__context__
    assert "HTTP Request: POST" in caplog.text, "the log of httpx was not looked at"
    refuse_secrets(tmp_path, caplog.text, *words)
