from __future__ import annotations

import pytest

from fairrec.core.errors import InputError
from fairrec.core.options import bind
from fairrec_paper.models.options import Hyper, TrainingOptions


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


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e-3", 0.001), ("0.5", 0.5), ("16", 16), ("256-128", (256, 128)), ("1_000", 1000)],
)
def test_a_hyper_parameter_is_a_number_or_the_sizes_of_layers(text, value):
    option = bind(Hyper)
    read = option.parse("hyper", f"some={text}")["some"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("text", ["much", "256-", "nan", "inf", "1.5-2"])
def test_what_is_neither_is_refused(text):
    option = bind(Hyper)
    with pytest.raises(InputError, match="invalid hyper: expected name=number"):
        option.parse("hyper", f"some={text}")
