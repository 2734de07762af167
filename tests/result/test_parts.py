from __future__ import annotations

import pytest
from pydantic import ValidationError

from fairrec.result.parts import GroupValue, without


def test_what_is_not_kept_any_more_is_taken_out_and_the_rest_stays():
    older = {"group": {"age": 20}, "value": 0.5, "support": 3, "old": 1}
    with pytest.raises(ValidationError, match="old"):
        GroupValue.model_validate(older)
    assert GroupValue.model_validate(without(older, "old", "gone")).value == 0.5
    assert "old" in older
