from __future__ import annotations

import pytest

import fairrec.search


def test_a_name_is_found_when_it_is_used_and_others_are_not_there():
    assert "adaptive" in fairrec.search.SEARCHERS
    with pytest.raises(AttributeError, match=r"module 'fairrec.search' has no attribute 'NOBODY'"):
        fairrec.search.NOBODY  # noqa: B018
