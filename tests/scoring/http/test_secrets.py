"""No secret in any output, log, ledger or traceback."""

from __future__ import annotations

import base64
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


def quote_all(text: str) -> str:
    return quote(text, safe="")


ENCODINGS: dict[str, Callable[[str], str]] = {"plain": str, "percent": quote_all}
LONG_SECRETS = ("s3cr3t/t0ken+8dd1", "S3cr3t/Query+Key")


PLACES: dict[str, Callable[[bytes], list[bytes]]] = {
    "error": lambda text: [replied(400, body=b'{"error": "%s"}' % text)],
    "reason": lambda text: [b"HTTP/1.1 400 " + text + b"\r\n\r\n"],
    "content type": lambda text: [OK, b"Content-Type: " + text + b"\r\n\r\n"],
    "redirect": lambda text: [replied(302, b"Location: http://a/" + text + b"\r\n")],
    "scores": lambda text: [replied(200, body=b'{"scores": ["%s"]}' % text)],
    "status line": lambda text: [text + b"\r\n\r\n"],
    "header": lambda text: [OK, text + b"\r\n\r\n"],
    "broken JSON": lambda text: [replied(200, body=b'{"scores": [' + text)],
}


@pytest.mark.parametrize("place", PLACES)
def test_no_secret_gets_out_encoded(place, monkeypatch, caplog, tmp_path):
    """In no message, log or traceback, in none of the encodings."""
    caplog.set_level(logging.DEBUG)
    token, key = LONG_SECRETS
    monkeypatch.setenv("RANKER_TOKEN", token)
    for encoding, encode in ENCODINGS.items():
        for secret in LONG_SECRETS:
            sent = encode(secret)
            caplog.clear()
            with hostile_server(say(*PLACES[place](sent.replace('"', "'").encode()))) as url:
                model = fairrec.Endpoint(
                    f"{url}?key={quote_all(key)}",
                    protocol="json",
                    token_env="RANKER_TOKEN",
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
    secrets = Secrets("format=json&key=s3cr3t-query-value", "t0ken-8dd1")
    for said in ("no such user: u17", "expected HTML", "50% &amp; more", ""):
        assert secrets.redact(said) == said
    assert secrets.redact({"a": ["b", 0.5, None, {"c": 3}]}) == {"a": ["b", 0.5, None, {"c": 3}]}
    assert secrets.redact(["t0ken-8dd1", {"t0ken-8dd1": "x"}]) == ["***", {"***": "x"}]
    assert Secrets().redact("anything") == "anything"


@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
def test_a_secret_is_hidden_in_base64_and_percent_encoded(before: str):
    secrets = Secrets(token=TOKEN)
    shown = secrets.redact(base64.urlsafe_b64encode((before + TOKEN).encode()).decode())
    # its ends share a letter with what stands there
    assert len(shown.replace("***", "")) <= len(base64.b64encode(before.encode())) + 4
    every = "".join(f"%{ord(letter):02X}" for letter in TOKEN)
    assert secrets.redact(before + every) == before + "***"
    assert secrets.redact(before + every.lower()) == before + "***"
