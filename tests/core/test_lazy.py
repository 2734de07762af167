from __future__ import annotations

import pytest

import fairrec
from fairrec.auditing.audit import audit


def test_a_name_is_found_when_it_is_used_and_others_are_not_there():
    assert fairrec.__getattr__("audit") is audit
    with pytest.raises(AttributeError, match=r"module 'fairrec' has no attribute 'NOBODY'"):
        fairrec.__getattr__("NOBODY")
