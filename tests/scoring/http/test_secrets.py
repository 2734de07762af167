"""No secret in any output, log, ledger or traceback."""

from __future__ import annotations

import logging
import re
import traceback
from pathlib import Path

import pytest

import fairrec
from fairrec.core.errors import FairRecError, InputError
from fairrec.search.options import SearchOptions
from tests.builders import numbers_of
from tests.end_to_end.command_line import run_process
from tests.scoring.http.served_world import (
    CANDIDATES,
    N_USERS,
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
        ("echo-500", 2, ("--debug",)),
        ("echo-scores", 2, ("--debug",)),
    ],
)
def test_no_secret_gets_out(mode, code, debug, server: FaultyServer, folder: Path):
    url, _ = server.address(mode)
    ran = run_process(
        *(*COMMAND, "--endpoint", f"{url}?key={QUERY}", *debug),
        folder=folder,
        environment={"RANKER_TOKEN": TOKEN},
    )
    if debug and code:
        assert ran.code == 1
        assert "Traceback" in ran.stderr
    else:
        assert ran.code == code, ran.stderr
    refuse_secrets(folder, ran.stdout, ran.stderr)
    assert (folder / "ledger.db").exists()
    if code == 0:
        assert f"{url}?***" in (folder / "out/result.json").read_text()


def test_the_query_is_sent(server: FaultyServer):
    url, tag = server.address("needs-query")
    result = audit(fairrec.Endpoint(f"{url}?key={QUERY}", protocol="json"))
    assert result.summary.search.users_paid == N_USERS
    assert server.batches(tag)


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


def test_a_right_token_opens_and_a_wrong_one_does_not(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
):
    url, _ = server.address("locked")
    with pytest.raises(FairRecError, match=r"HTTP 401 .*who are you\?.*--token-env NAME"):
        audit(fairrec.Endpoint(url, protocol="json"))
    monkeypatch.setenv("RANKER_TOKEN", "another")
    wrong = fairrec.Endpoint(url, protocol="json", token_env="RANKER_TOKEN")
    with pytest.raises(FairRecError, match=r"HTTP 401 .*who are you\?.*not accepted") as caught:
        audit(wrong)
    assert "--token-env NAME" not in str(caught.value)
    monkeypatch.setenv("RANKER_TOKEN", f" {TOKEN}\n")
    model = fairrec.Endpoint(url, protocol="json", token_env="RANKER_TOKEN")
    assert numbers_of(audit(model))["search"]["users_paid"] == N_USERS


@pytest.mark.parametrize(
    ("value", "url", "says"),
    [
        (None, "http://localhost/x", "is not set, or is empty"),
        ("", "http://localhost/x", "is not set, or is empty"),
        ("two words", "http://localhost/x", "is no token"),
        ("tok\nen", "http://localhost/x", "is no token"),
        ("tökén", "http://localhost/x", "is no token"),
        (TOKEN, "http://ranker.example/x", "readable for everyone on the way to ranker.example"),
    ],
)
def test_a_token_that_cannot_be_sent_safely_is_refused(value, url, says, monkeypatch):
    name = "S3CR3T_NAME"
    monkeypatch.delenv(name, raising=False)
    if value is not None:
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        fairrec.Endpoint(url, protocol="json", token_env=name)
    assert not value or value not in str(caught.value)
    # whoever gives the token itself for its name must not find it on the screen
    assert name not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "is_sent"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.0.0.2", True),
        ("[::1]", True),
        ("128.0.0.1", False),
        ("0.0.0.0", False),
        ("127.0.0.1.example", False),
        ("localhost.example", False),
    ],
)
def test_a_token_goes_unencrypted_to_this_machine_alone(host, is_sent, monkeypatch):
    monkeypatch.setenv("RANKER_TOKEN", TOKEN)
    if is_sent:
        fairrec.Endpoint(f"http://{host}:80/x", protocol="json", token_env="RANKER_TOKEN")
        return
    with pytest.raises(InputError, match="readable for everyone"):
        fairrec.Endpoint(f"http://{host}:80/x", protocol="json", token_env="RANKER_TOKEN")


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{TOKEN}@host/score",
        f"http://{TOKEN}@host/score",
        f"http://user:{TOKEN}@host:bad/score",
        f"http://user:{TOKEN}@[::1/score",
        f"ftp://host/score?key={TOKEN}",
        f"http://ho st/score?key={TOKEN}",
        f"score?key={TOKEN}",
        f"http://?key={TOKEN}",
    ],
)
def test_an_address_with_a_password_is_refused_without_showing_it(url):
    with pytest.raises(InputError, match="--endpoint") as caught:
        fairrec.Endpoint(url, protocol="json")
    assert TOKEN not in "".join(traceback.format_exception(caught.value))
