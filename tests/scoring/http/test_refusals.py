"""Replies that are no answers, in words."""

from __future__ import annotations

import httpx
import pytest

from fairrec.core.errors import ScoringError
from fairrec.scoring.http.patience import Fault
from fairrec.scoring.http.refusals import Refusals
from fairrec.scoring.http.secrets import Secrets


def error(code: int, text: bytes = b"", has_token: bool = False, **headers: str) -> Exception:
    response = httpx.Response(code, headers={k.replace("_", "-"): v for k, v in headers.items()})
    return Refusals(Secrets("", ["t0ken-8dd1"]), has_token).error(response, text)


@pytest.mark.parametrize(
    ("code", "headers", "wait", "is_busy"),
    [
        (429, {}, None, True),
        (429, {"retry_after": "3"}, 3.0, True),
        (503, {"retry_after": "1.5"}, 1.5, True),
        (503, {"retry_after": "soon"}, None, False),
        (500, {}, None, False),
        (408, {}, None, False),
        (425, {}, None, False),
        (599, {}, None, False),
    ],
)
def test_what_may_pass_is_a_fault(code, headers, wait, is_busy):
    fault = error(code, **headers)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.wait, fault.is_busy) == (f"HTTP {code}", wait, is_busy)


@pytest.mark.parametrize(
    ("code", "has_token", "says"),
    [
        (400, False, "HTTP 400 Bad Request: no"),
        (401, False, "name the variable that holds it: token_env=..."),
        (403, True, "The token given by token_env is not accepted"),
        (404, False, "Check the address"),
        (413, False, "Lower rows_per_call"),
        (501, False, "Check the address and protocol"),
        (505, False, "HTTP 505 HTTP Version Not Supported: no"),
        (302, False, "it redirects to nowhere, which is not followed"),
    ],
)
def test_what_stays_is_an_error_with_its_remedy(code, has_token, says):
    found = error(code, b'{"error": "no"}', has_token)
    assert isinstance(found, ScoringError)
    assert says in str(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"error": "bad id"}', ": bad id"),
        (b'{"detail": "bad id"}', ": bad id"),
        (b'{"message": 1}', ': {"message": 1}'),
        (b"[1]", ": [1]"),
        (b"  plain words\n", ": plain words"),
        (b"two\nlines\x1b[31m", r": two\nlines\x1b[31m"),
        (b"\xff", ": \ufffd"),
        (b"", ""),
        (b"for t0ken-8dd1", ": for ***"),
        (b"for T0KEN 8DD1", ": (not shown: it repeats a secret)"),
    ],
)
def test_the_words_of_a_server_are_shown_on_one_line(text, said):
    assert str(error(400, text)) == f"HTTP 400 Bad Request{said}"


def test_where_a_redirect_leads_is_shown_without_query_and_password():
    found = error(307, location="https://me:pw@host/path?key=1")
    assert "it redirects to host/path, which" in str(found)
