"""Keys of a query from the environment."""

from __future__ import annotations

import re

import pytest

import fairrec
from fairrec.core.errors import InputError
from tests.scoring.http.hostile_servers import hostile_server, read_request, replied

KEY = "s3cr3t-key-77"


@pytest.mark.parametrize(
    ("value", "url", "says"),
    [
        (None, "http://localhost/x", "query_env: the environment variable it names is not set"),
        (" ", "http://localhost/x", "query_env: the environment variable it names is not set"),
        ("a\nb", "http://localhost/x", "query_env: what the variable holds is no token or key"),
        (KEY, "http://ranker.example/x", "query_env: its content would be readable for everyone"),
    ],
)
def test_a_key_that_cannot_be_sent_safely_is_refused(value, url, says, monkeypatch):
    name = "S3CR3T_NAME"
    monkeypatch.delenv(name, raising=False)
    if value is not None:
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        fairrec.Endpoint(url, protocol="json", query_env={"key": name})
    assert name not in str(caught.value)
    assert KEY not in str(caught.value)


def test_values_follow_the_query_of_the_address_and_are_escaped(monkeypatch):
    monkeypatch.setenv("RANKER_KEY", "a b&c=d?é")
    heads = []

    def act(peer):
        heads.append(read_request(peer))
        peer.sendall(replied(200, body=b'{"scores": [2]}'))

    with hostile_server(act, reads_first=False) as url:
        names = {"k&y": "RANKER_KEY"}
        model = fairrec.Endpoint(f"{url}?v=2", protocol="json", query_env=names)
        model.answer({"user_id": ["a"], "item_id": ["b"]})
        model.close()
    assert heads[0].startswith(b"post /score?v=2&k%26y=a%20b%26c%3dd%3f%c3%a9 ")


def test_a_key_may_be_given_as_text_or_by_name(monkeypatch):
    monkeypatch.setenv("RANKER_KEY", KEY)
    for given in ("key=RANKER_KEY", {"key": "RANKER_KEY"}):
        model = fairrec.Endpoint("https://a/x", protocol="json", query_env=given)
        assert model.options.query_env == {"key": "RANKER_KEY"}
        assert KEY not in repr(model)
        # as a token, it opens the door and does not tell models apart
        assert model.identity() == "json https://a/x"
        model.close()
