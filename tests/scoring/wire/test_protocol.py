"""What all protocols of model servers have in common, against a server of their own."""

from __future__ import annotations

import re

import pytest

import fairrec
from fairrec.core.errors import InputError, ScoringError
from tests.scoring.http.served_world import N_USERS, FaultyServer, answer_of, audit, in_process
from tests.scoring.wire.said import PATHS, QUICK


@pytest.mark.parametrize("protocol", list(PATHS))
def test_every_protocol_gives_the_result_of_the_function(protocol, server: FaultyServer):
    url, tag = server.address("plain", PATHS[protocol])
    result = audit(fairrec.Endpoint(url, protocol=protocol, **QUICK))
    assert answer_of(result) == answer_of(audit(in_process))
    assert sum(map(len, server.batches(tag))) == N_USERS


@pytest.mark.parametrize(
    ("mode", "protocol", "path", "says"),
    [
        ("plain", "oip", "/v2/models/other", "there is no model 'other'"),
        ("loading", "tfserving", "/v1/models/m", "no version of the model 'm' is available"),
        ("not-ready", "oip", "/v2/models/m", "HTTP 503 Service Unavailable: still loading"),
    ],
)
def test_a_model_that_is_not_there_is_said_before_anything_is_asked(
    mode, protocol, path, says, server: FaultyServer
):
    url, tag = server.address(mode, path)
    with pytest.raises(ScoringError, match="is not ready to be asked") as caught:
        audit(fairrec.Endpoint(url, protocol=protocol, **QUICK, retries=0))
    assert says in str(caught.value)
    assert server.batches(tag) == []


@pytest.mark.parametrize(
    ("protocol", "url", "says"),
    [
        (
            "oip",
            "http://host/score",
            "expected an address of the Open Inference Protocol, http://HOST/v2/models/NAME",
        ),
        (
            "tfserving",
            "http://host/v2/models/m",
            "expected an address of TensorFlow Serving, http://HOST/v1/models/NAME",
        ),
    ],
)
def test_an_address_of_another_protocol_is_refused(protocol, url, says):
    with pytest.raises(InputError, match=re.escape(says)):
        fairrec.Endpoint(url, protocol=protocol)
