"""Endpoints: their options, their identity, their token."""

from __future__ import annotations

import re
from typing import Any

import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.search.options import Search
from tests.scoring.http.served_world import FaultyServer, answer_of, audit
from tests.scoring.wire.said import PATHS, QUICK

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


@pytest.mark.parametrize("missing", ["httpx", "orjson", "tenacity"])
def test_what_is_not_installed_is_named_with_its_command(monkeypatch, missing: str):
    from fairrec.scoring import endpoint

    monkeypatch.setattr(endpoint, "find_spec", lambda name: None if name == missing else name)
    with pytest.raises(InputError, match=rf"needs {missing}: pip install 'fairrec\[http\]'"):
        fairrec.Endpoint("http://localhost:1/score")
