"""Whose certificates are trusted, and files that hold none."""

from __future__ import annotations

from pathlib import Path

import certifi
import pytest

from fairrec.core.errors import InputError
from fairrec.scoring.http_client import _trusted
from tests.end_to_end.command_line import run_here
from tests.scoring.http.served_world import CANDIDATES


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_authorities_are_those_of_the_environment_or_the_usual_ones(monkeypatch, tmp_path: Path):
    usual = len(_trusted().get_ca_certs())
    assert usual > 50
    one = tmp_path / "one.pem"
    text = Path(certifi.where()).read_text()
    one.write_text(text[: text.index("-----END CERTIFICATE-----")] + "-----END CERTIFICATE-----\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(one))
    assert len(_trusted().get_ca_certs()) == 1
    monkeypatch.delenv("SSL_CERT_FILE")
    # those of a folder are looked up when they are needed
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert _trusted().get_ca_certs() == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("missing.pem", None),
        ("empty.pem", b""),
        ("noise.pem", b"\x00\xff" * 99),
        ("half.pem", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
    ],
)
def test_a_file_without_certificates_is_refused_by_name(name, content, monkeypatch, tmp_path: Path):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with pytest.raises(InputError, match=f"SSL_CERT_FILE={path}: no certificates can be read"):
        _trusted()
    monkeypatch.delenv("SSL_CERT_FILE")
    monkeypatch.setenv("SSL_CERT_DIR", str(path))
    with pytest.raises(InputError, match=f"SSL_CERT_DIR={path}: .*no such folder"):
        _trusted()


@pytest.mark.parametrize("command", ["doctor", "audit"])
def test_it_is_a_message_of_every_command(command, monkeypatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", "missing.pem")
    CANDIDATES.write_parquet("candidates.parquet")
    CANDIDATES.select("user_id", gender="item_id").with_columns(gender=1).write_csv("users.csv")
    users = ("--users", "users.csv", "--by", "gender") if command == "audit" else ()
    url = "https://127.0.0.1:9/v2/models/m"
    ran = run_here(command, "candidates.parquet", *users, "--endpoint", url)
    assert ran.code == 2
    assert ran.stderr.startswith("InputError: SSL_CERT_FILE=missing.pem: no certificates can")
    # nothing to trust where nothing is encrypted
    ran = run_here(command, "candidates.parquet", *users, "--endpoint", url.replace("s:", ":"))
    assert "given up after 3 attempts (3 x connection)" in ran.stderr
