from __future__ import annotations

import math

import pytest

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.search.searcher import hyper_parameters


def test_hyper_parameters_have_names():
    with pytest.raises(UnknownNameError, match="Did you mean 'tolerance'"):
        hyper_parameters("adaptive", {"tolerence": 0.1})
    with pytest.raises(InputError, match="'random' has no hyper-parameter 'theta'"):
        hyper_parameters("random", {"theta": 0.1})


def test_hyper_parameters_that_are_whole_numbers_stay_so():
    iterations = hyper_parameters("dpso", {"iterations": 30.0}).iterations
    assert (iterations, type(iterations)) == (30, int)
    assert hyper_parameters("dpso", {}).iterations is None
    with pytest.raises(InputError, match=r"iterations: expected a whole number, got 2\.5"):
        hyper_parameters("dpso", {"iterations": 2.5})


@pytest.mark.parametrize("value", ["0.2", math.nan, math.inf, None])
def test_hyper_parameters_are_finite_numbers(value):
    with pytest.raises(InputError, match=r"invalid hyper-parameter alpha: expected a number, got"):
        hyper_parameters("dpso", {"alpha": value})


def test_unknown_searcher_has_no_hyper_parameters():
    with pytest.raises(UnknownNameError, match="Did you mean 'dpso'"):
        hyper_parameters("dspo", {})
