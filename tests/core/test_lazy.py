from __future__ import annotations

import pytest

from fairrec.core.lazy import loaded_on_use
from fairrec.workflows.audit import audit


def test_a_name_is_found_when_it_is_used_and_others_are_not_there():
    find = loaded_on_use("fairrec", {"audit": "fairrec.workflows.audit"})
    assert find("audit") is audit
    with pytest.raises(AttributeError, match=r"module 'fairrec' has no attribute 'NOBODY'"):
        find("NOBODY")
