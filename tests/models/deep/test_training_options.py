from __future__ import annotations

import pytest

from fairrec.core.errors import InputError
from fairrec.models.deep.training_options import TrainingOptions


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epochs": 0}, "invalid epochs"),
        ({"learning_rate": 0}, "invalid learning_rate: expected a number above 0"),
        ({"holdout": 1.0}, "invalid holdout"),
        ({"candidates": 1}, "invalid candidates"),
        ({"seed": -1}, "invalid seed"),
        ({"seed": 2**40}, "invalid seed"),
    ],
)
def test_impossible_options_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        TrainingOptions(**options)
