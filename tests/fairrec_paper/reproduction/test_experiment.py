from __future__ import annotations

from dataclasses import replace

import polars as pl


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
