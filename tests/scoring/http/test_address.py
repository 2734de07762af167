"""Addresses of endpoints: what is refused, and what is never shown."""

from __future__ import annotations

import traceback

import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.scoring.endpoint import parse_address

TOKEN = "s3cr3t-t0ken-8dd1"


def test_the_digest_of_a_query_is_of_its_address():
    one, other = (parse_address(f"https://{host}/score?key=abcd") for host in ("a", "b"))
    assert one.query_digest() != other.query_digest()
    assert one.query_digest() == parse_address("https://a/score?key=abcd").query_digest()
    assert parse_address("https://a/score").query_digest() == ""


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{TOKEN}@host/score",
        f"http://{TOKEN}@host/score",
        f"http://user:{TOKEN}@host:bad/score",
        f"http://user:{TOKEN}@[::1/score",
        f"ftp://host/score?key={TOKEN}",
        f"http://ho st/score?key={TOKEN}",
        f"score?key={TOKEN}",
        f"http://?key={TOKEN}",
    ],
)
def test_an_address_with_a_password_is_refused_without_showing_it(url):
    with pytest.raises(InputError, match="endpoint") as caught:
        fairrec.Endpoint(url, protocol="json")
    assert TOKEN not in "".join(traceback.format_exception(caught.value))
