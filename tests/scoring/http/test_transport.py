"""What is sent beside a request: the query and the token."""

from __future__ import annotations

import pytest

import fairrec
from fairrec.core.errors import FairRecError
from tests.builders import numbers_of
from tests.scoring.http.served_world import N_USERS, FaultyServer, audit

TOKEN = "s3cr3t-t0ken-8dd1"
QUERY = "s3cr3t-query"


def test_the_query_is_sent(server: FaultyServer):
    url, tag = server.address("needs-query")
    result = audit(fairrec.Endpoint(f"{url}?key={QUERY}", protocol="json"))
    assert result.summary.search.users_paid == N_USERS
    assert server.batches(tag)


def test_a_right_token_opens_and_a_wrong_one_does_not(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
):
    url, _ = server.address("locked")
    with pytest.raises(FairRecError, match=r"HTTP 401 .*who are you\?.*token_env=\.\.\."):
        audit(fairrec.Endpoint(url, protocol="json"))
    monkeypatch.setenv("RANKER_TOKEN", "another")
    wrong = fairrec.Endpoint(url, protocol="json", token_env="RANKER_TOKEN")
    with pytest.raises(FairRecError, match=r"HTTP 401 .*who are you\?.*not accepted") as caught:
        audit(wrong)
    assert "token_env=..." not in str(caught.value)
    monkeypatch.setenv("RANKER_TOKEN", f" {TOKEN}\n")
    model = fairrec.Endpoint(url, protocol="json", token_env="RANKER_TOKEN")
    assert numbers_of(audit(model))["search"]["users_paid"] == N_USERS
