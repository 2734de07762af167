from __future__ import annotations

import re

import pytest

import fairrec
from fairrec.core.errors import InputError, UnknownNameError
from fairrec.core.options import list_options
from fairrec.scoring.options import PROTOCOL_NAMES, EndpointOptions
from fairrec.scoring.protocols import PROTOCOLS


def test_help_of_an_endpoint_tells_all_options():
    words = " ".join(fairrec.Endpoint.__doc__.split())
    for name, option in list_options(EndpointOptions).items():
        assert f"{name} : {option.help}" in words


def test_help_names_every_protocol_there_is():
    assert [*PROTOCOL_NAMES] == [*PROTOCOLS]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rate": 0}, "invalid rate: expected"),
        ({"timeout": 0}, "invalid timeout: expected"),
        ({"retries": -1}, "invalid retries: expected"),
        ({"concurrency": 0}, "invalid concurrency: expected"),
        ({"rows_per_call": 0}, "invalid rows_per_call: expected"),
        ({"max_reply_mb": 0}, "invalid max_reply_mb: expected"),
        ({"features": "age"}, "TABLE:COLUMN"),
        ({"features": [5]}, "invalid features: expected TABLE:COLUMN, such as users:age, got 5"),
        ({"features": 0}, "invalid features: expected TABLE:COLUMN, such as users:age, got 0"),
        ({"first_wait": "x"}, "invalid first_wait: expected a number from 0"),
        ({"longest_wait": -1}, "invalid longest_wait: expected a number from 0"),
    ],
)
def test_impossible_options_are_refused(options, says):
    with pytest.raises(InputError, match=re.escape(says)):
        fairrec.Endpoint("http://host/score", **{"protocol": "json", **options})
    with pytest.raises(UnknownNameError, match="Did you mean 'json'"):
        fairrec.Endpoint("http://host/score", protocol="jsn")
