"""Endpoints: their options, addresses, identity, tokens and certificates."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fairrec
from fairrec.core.errors import InputError, ScoringError, UnknownNameError
from fairrec.core.options import list_options
from fairrec.scoring.options import EndpointOptions
from fairrec.scoring.protocols import PROTOCOLS
from fairrec.search.options import Search
from tests.scoring.http.faulty_server import Handler, Server
from tests.scoring.http.served_world import N_USERS, FaultyServer, answer_of, audit
from tests.scoring.test_protocols import PATHS, QUICK

TOKEN = "s3cr3t-t0ken-8dd1"


def test_a_ledger_of_an_endpoint_names_protocol_model_version_and_features(server: FaultyServer):
    url, _ = server.address("plain", PATHS["oip"])
    with_query = fairrec.Endpoint(f"{url}?key=1234")
    digest = with_query.identity().removeprefix(f"oip {url} query ").removesuffix(" version 7")
    assert re.fullmatch("[0-9a-f]{12}", digest)
    with_query.close()
    without = fairrec.Endpoint(url)
    assert without.identity() == f"oip {url} version 7"
    without.close()
    sent = fairrec.Endpoint(
        url, protocol="json", features="users:age", inputs={"uid": "user_id"}, output="x"
    )
    assert sent.identity() == f"json {url} users:age uid=user_id output x"
    sent.close()


def test_models_told_apart_by_their_query_do_not_share_a_ledger(server: FaultyServer, tmp_path):
    url, _ = server.address("one-of-two")
    how = Search("exact", ledger=tmp_path / "ledger.db")

    def ask(query: str) -> Any:
        model = fairrec.Endpoint(f"{url}?{query}", protocol="json", **QUICK)
        return audit(model, scorer_identity="", search=how)

    first = ask("model=aaaa")
    assert ask("model=aaaa").summary.search.users_paid == 0
    with pytest.raises(InputError, match="are of another model") as caught:
        ask("model=bbbb")
    for said in (str(caught.value), first.to_json(), how.ledger.read_bytes().decode("latin-1")):
        assert "aaaa" not in said
        assert "bbbb" not in said
    how = Search("exact", ledger=tmp_path / "other.db")
    assert answer_of(ask("model=bbbb"))["metrics"] != answer_of(first)["metrics"]


@pytest.mark.parametrize(
    ("value", "url", "says"),
    [
        (None, "http://localhost/x", "the environment variable it names is not set"),
        (" ", "http://localhost/x", "the environment variable it names is not set"),
        ("tok\nen", "http://localhost/x", "the variable holds no token"),
        (TOKEN, "http://ranker.example/x", "the token would be readable"),
    ],
)
def test_a_secret_that_cannot_be_sent_safely_is_refused(value, url, says, monkeypatch):
    name = "S3CR3T_NAME"
    monkeypatch.delenv(name, raising=False)
    if value is not None:
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=re.escape(f"token_env: {says}")) as caught:
        fairrec.Endpoint(url, protocol="json", token_env=name)
    assert not (value or "").strip() or value not in str(caught.value)
    # a token given by mistake for its name must not be on the screen
    assert name not in str(caught.value)


def test_help_names_every_protocol_there_is():
    help_text = list_options(EndpointOptions)["protocol"].form.expected
    assert re.findall(r"'(\w+)'", help_text) == [*PROTOCOLS]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rate": 0}, "invalid rate: expected"),
        ({"timeout": 0}, "invalid timeout: expected"),
        ({"concurrency": 257}, "invalid concurrency: expected"),
        ({"features": "age"}, "TABLE:COLUMN"),
    ],
)
def test_impossible_options_are_refused(options, says):
    with pytest.raises(InputError, match=re.escape(says)):
        fairrec.Endpoint("http://host/score", **{"protocol": "json", **options})
    with pytest.raises(UnknownNameError, match="Did you mean 'json'"):
        fairrec.Endpoint("http://host/score", protocol="jsn")


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{TOKEN}@host/score",
        f"http://user:{TOKEN}@[::1/score",
        f"ftp://host/score?key={TOKEN}",
        f"http://ho st/score?key={TOKEN}",
    ],
)
def test_an_address_with_a_password_is_refused_without_showing_it(url):
    with pytest.raises(InputError, match="endpoint") as caught:
        fairrec.Endpoint(url, protocol="json")
    assert TOKEN not in "".join(traceback.format_exception(caught.value))


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


@pytest.fixture
def secure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Path, list[str]]]:
    """The address of a server with a certificate of its own, that certificate, and its calls."""
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", "key.pem", "-out", "certificate.pem"),
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    calls: list[str] = []

    class Noted(Handler):
        def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
            calls.append(self.path)
            super().do_POST()

    monkeypatch.setattr("tests.scoring.http.faulty_server.LOG", tmp_path / "log")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    server = Server(("127.0.0.1", 0), Noted)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield (
        f"https://127.0.0.1:{server.server_address[1]}/plain/t",
        tmp_path / "certificate.pem",
        calls,
    )
    server.shutdown()
    server.server_close()


def test_an_unknown_certificate_is_refused_and_a_known_one_is_not(
    secure, monkeypatch: pytest.MonkeyPatch
):
    url, certificate, calls = secure
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(ScoringError, match=r"its certificate is not trusted .*SSL_CERT_FILE"):
        audit(fairrec.Endpoint(url, protocol="json", retries=5))
    assert calls == []
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    result = audit(fairrec.Endpoint(url, protocol="json"))
    assert result.summary.search.users_paid == N_USERS
    assert result.summary.search.faults == {}
