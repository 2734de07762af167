from __future__ import annotations

import pytest

from fairrec.core.errors import FairRecError
from fairrec_paper.reproduction.options import QUICK, ReproduceOptions


def test_numbers_and_names_may_be_text_and_a_model_counts_once():
    options = ReproduceOptions(models="taste,dcn,taste", n_seeds="3", permutations=1e2)
    assert options.models == ("taste", "dcn")
    assert (options.seeds, options.permutations) == (range(3), 100)


def test_models_are_trained_with_the_seed_unless_others_are_named():
    assert ReproduceOptions(seed=7).trainings == (7,)
    assert ReproduceOptions(training_seeds="0,1, 2,1").trainings == (0, 1, 2)


def test_only_models_that_are_trained_are_deep():
    assert QUICK.has_deep_models
    assert [*QUICK.seeds] == [0, 1]
    assert not ReproduceOptions(models=("taste",)).has_deep_models


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"models": ()}, r"No model is named. Example: models=\('deepfm', 'dcn'\)"),
        ({"models": ("deepmf",)}, "Did you mean 'deepfm'"),
        ({"training_seeds": ()}, r"No training seed is named. Example: training_seeds=\(0, 1, 2\)"),
        ({"training_seeds": (0, -1)}, "invalid training_seeds: expected whole numbers from 0"),
        ({"protocol": "theirs"}, "invalid protocol: expected 'ours' or 'paper', got 'theirs'"),
        ({"n_seeds": 0}, "invalid n_seeds: expected a whole number from 1, got 0"),
        ({"permutations": 0}, "invalid permutations: expected a whole number from 1, got 0"),
        ({"seed": 2**32}, "invalid seed: expected"),
    ],
)
def test_options_that_cannot_be_are_refused(options, says):
    with pytest.raises(FairRecError, match=says):
        ReproduceOptions(**options)
