from __future__ import annotations

import pytest

import fairrec
from fairrec.core.errors import InputError
from tests.grouped_options import group_options


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"scorer": 5}, "invalid scorer: expected a function .* or a model, got 5"),
        ({"scorer": "ranker:score"}, "invalid scorer: expected a function .* or a model, got"),
        ({"scorer_identity": 5}, "invalid scorer_identity: expected text, got 5"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_read(options, says):
    with pytest.raises(InputError, match=says):
        fairrec.audit("not-there.parquet", **group_options(users=None, by="gender", **options))
