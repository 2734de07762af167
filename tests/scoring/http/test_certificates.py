"""A server whose certificate is not trusted gets nothing."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import fairrec
from fairrec.core.errors import ScoringError
from tests.scoring.http.faulty_server import Handler, Server
from tests.scoring.http.served_world import N_USERS, audit

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
