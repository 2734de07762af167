"""Plain JSON: what is sent and read."""

from __future__ import annotations

import pytest

import fairrec
from fairrec.core.errors import ScoringError
from tests.scoring.http.served_world import N_USERS, FaultyServer, audit


def test_features_are_sent_beside_the_ids_by_the_names_asked_for(server: FaultyServer):
    url, _ = server.address("features")
    before = len(server.log.read_text())
    model = fairrec.Endpoint(
        url,
        protocol="json",
        features="users:years,users:gender",
        inputs={"age": "years"},
        rows_per_call=10_000,
    )
    audit(model)
    assert "['age', 'gender', 'item_id', 'user_id']" in server.log.read_text()[before:]


def test_a_reply_without_scores_says_what_is_wanted(server: FaultyServer):
    url, _ = server.address("no-scores")
    with pytest.raises(ScoringError, match=r'Reply with {"scores": \[...\]}'):
        audit(fairrec.Endpoint(url, protocol="json"))
    assert (
        audit(fairrec.Endpoint(url, protocol="json", output="result")).summary.search.users_paid
        == N_USERS
    )
