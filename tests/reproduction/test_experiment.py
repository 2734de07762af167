from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.reproduction.experiment import QUICK, ReproduceOptions


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_seeds": 0}, "--seeds 0"),
        ({"permutations": 0}, "--permutations 0"),
        ({"seed": -1}, "--seed -1"),
        ({"models": ()}, "No model is named"),
    ],
)
def test_impossible_options_are_refused(options, says):
    with pytest.raises(InputError, match=says):
        ReproduceOptions(**options)
    with pytest.raises(UnknownNameError, match="Did you mean 'deepfm'"):
        ReproduceOptions(models=("deepmf",))


def test_only_taste_needs_no_training():
    assert not ReproduceOptions(models=("taste",)).has_deep_models
    assert QUICK.has_deep_models
    assert [*QUICK.seeds] == [0, 1]


def test_one_subject_is_of_the_preferred_model_where_that_is_tested(setting, source):
    both = replace(setting, options=replace(setting.options, models=("dcn", "taste")))
    for preferred, model in (("taste", "taste"), ("deepfm", "dcn")):
        subject, labels = both.one_subject(source, preferred)
        assert subject.model == model
        assert labels == {"dataset": "movielens-1m", "model": model}


def test_titles_say_what_is_synthetic(setting, source):
    assert setting.title == source.title == "synthetic shape of MovieLens-1M, 240 users"
    rows = setting.with_titles(pl.DataFrame({"dataset": ["movielens-1m"]}))
    assert rows["data"].to_list() == [source.title]
    other = replace(source, name="lfm360k")
    two = replace(setting, sources=(source, other))
    assert two.title == "synthetic shapes of MovieLens-1M, LFM360K"
