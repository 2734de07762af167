"""No secret in any output, log, ledger or traceback."""

from __future__ import annotations

import base64
import json
import logging
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

import fairrec
from fairrec.core.errors import FairRecError
from fairrec.scoring.endpoint import Secrets
from tests.end_to_end.command_line import run_here, run_process
from tests.scoring.http.hostile_servers import (
    JSON,
    OK,
    hostile_server,
    replied,
    say,
)
from tests.scoring.http.served_world import (
    CANDIDATES,
    ROWS_PER_CALL,
    USERS,
    FaultyServer,
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "code", "debug"),
    [
        ("locked", 0, ()),
        ("echo", 2, ()),
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
    assert (folder / "ledger.db").exists()
    if code == 0:
        assert f"{url}?***" in (folder / "out/result.json").read_text()


def percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": percent,
    "percent, lower case": lambda text: percent(text).lower(),
    "percent in part": lambda text: text[:3] + percent(text[3:6]) + text[6:],
    "base64": encoded,
    "base64 without padding": lambda text: encoded(text).rstrip("="),
    "base64 of a header": lambda text: encoded(f"Bearer {text}"),
    "base64 behind one letter": lambda text: encoded(f"x{text} and more"),
    "base64url": lambda text: base64.urlsafe_b64encode(f"?>{text}?>".encode()).decode(),
}
LONG_SECRETS = ("s3cr3t-t0ken-8dd1-Zq", "S3cr3tQueryKey77xY")


PLACES: dict[str, Callable[[bytes], list[bytes]]] = {
    "error": lambda text: [replied(400, body=b'{"error": "%s"}' % text)],
    "error in words": lambda text: [replied(500, body=b"no: " + text)],
    "reason": lambda text: [b"HTTP/1.1 400 " + text + b"\r\n\r\n"],
    "content type": lambda text: [OK, b"Content-Type: " + text + b"\r\n\r\n"],
    "content encoding": lambda text: [OK, JSON, b"Content-Encoding: " + text + b"\r\n\r\n"],
    "redirect": lambda text: [replied(302, b"Location: http://a/" + text + b"\r\n")],
    "wait": lambda text: [replied(503, b"Retry-After: " + text + b"\r\n")],
    "scores": lambda text: [replied(200, body=b'{"scores": ["%s"]}' % text)],
    "status line": lambda text: [text + b"\r\n\r\n"],
    "header": lambda text: [OK, text + b"\r\n\r\n"],
    "length": lambda text: [OK, b"Content-Length: " + text + b"\r\n\r\n"],
    "broken JSON": lambda text: [replied(200, body=b'{"scores": [' + text)],
}


@pytest.mark.parametrize("place", PLACES)
def test_no_secret_gets_out_encoded(place, monkeypatch, caplog, tmp_path):
    """In no message, log or traceback, in none of the encodings."""
    caplog.set_level(logging.DEBUG)
    token, key = LONG_SECRETS
    monkeypatch.setenv("RANKER_TOKEN", token)
    monkeypatch.setenv("RANKER_KEY", key)
    for encoding, encode in ENCODINGS.items():
        for secret in LONG_SECRETS:
            sent = encode(secret)
            caplog.clear()
            with hostile_server(say(*PLACES[place](sent.replace('"', "'").encode()))) as url:
                model = fairrec.Endpoint(
                    url,
                    protocol="json",
                    token_env="RANKER_TOKEN",
                    query_env={"key": "RANKER_KEY"},
                    retries=0,
                    timeout=5,
                )
                words = [repr(model)]
                try:
                    words.append(repr(model.answer({"user_id": ["a"], "item_id": ["b"]})))
                except FairRecError as error:
                    words += chain_of(error)
                finally:
                    model.close()
            for text in [*words, caplog.text]:
                assert secret not in text, encoding
                assert sent not in text, encoding
                # a text in the form of Python, as a log shows bytes
                assert repr(sent)[1:-1] not in text, encoding


def chain_of(error: BaseException | None) -> list[str]:
    """All that an error and those behind it say."""
    words = ["".join(traceback.format_exception(error))]
    while error is not None:
        words += [str(error), repr(error), repr(error.args)]
        error = error.__cause__ or error.__context__
    return words


def test_ordinary_words_are_shown_as_they_are():
    secrets = Secrets("format=json&key=s3cr3t-query-value", ["t0ken-8dd1"])
    for said in ("no such user: u17", "expected JSON, got HTML", "50% &amp; more", ""):
        assert secrets.redact(said) == said
    assert secrets.redact({"a": ["b", 0.5, None, {"c": 3}]}) == {"a": ["b", 0.5, None, {"c": 3}]}
    assert secrets.redact(["t0ken-8dd1", {"t0ken-8dd1": "x"}]) == ["***", {"***": "x"}]
    assert Secrets().redact("anything") == "anything"


def test_secrets_of_any_letters_are_redacted():
    for secret in ("a+b/c=d e", "ké?y", "(.*)[x", "???>>>~~~"):
        secrets = Secrets("", [secret])
        assert secrets.redact(f"<{secret}>") == "<***>"
        assert secrets.redact(f"<{quote(secret, safe='')}>") == "<***>"
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            sent = encode(secret.encode()).decode()
            assert sent[1:-4] not in secrets.redact(sent)


def test_a_key_of_the_environment_is_sent_and_told_nowhere(
    server: FaultyServer, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RANKER_TOKEN", TOKEN)
    monkeypatch.setenv("RANKER_KEY", QUERY)
    url, tag = server.address("needs-query")
    command = (*COMMAND, "--endpoint", url, "--query-env", "key=RANKER_KEY")
    monkeypatch.setattr(sys, "argv", ["fairrec", *command])
    ran = run_here(*command)
    assert ran.code == 0, ran.stderr
    assert server.batches(tag)
    refuse_secrets(folder, ran.stdout, ran.stderr, *ran.progress)
    assert "--query-env key=RANKER_KEY" in (folder / "out/run.json").read_text()
    # another key opens the same model: the ledger goes on
    monkeypatch.setenv("RANKER_KEY", "another")
    again = run_here(*command, "--format", "json")
    assert json.loads(again.stdout)["search"]["users_paid"] == 0
