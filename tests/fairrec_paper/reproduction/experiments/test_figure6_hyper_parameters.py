from __future__ import annotations

from collections import Counter

from fairrec_paper.reproduction.figures_5_and_6 import ADVICE, GRIDS, has_few, plan_hyper


def test_grids_hold_what_the_paper_suggests():
    for few, advice in ADVICE.items():
        for name, values in advice.items():
            assert set(values) <= set(GRIDS[few][name])


def test_each_value_of_the_grid_is_searched_with_every_seed(setting, source):
    assert has_few(source)
    trials = plan_hyper(setting)
    searched = Counter(
        (trial.labels["parameter"], trial.labels["value"])
        for trial in trials
        if trial.kind == "search"
    )
    assert searched == {
        ("epsilon", 0.01): 2,
        ("epsilon", 0.1): 2,
        ("iterations", 1.0): 2,
        ("iterations", 10.0): 2,
    }
    assert [trial.kind for trial in trials].count("chance") == 1
