from __future__ import annotations

from dataclasses import replace

from fairrec_paper.reproduction.methods import (
    ADAPTIVE,
    DPSO,
    FAIRAS,
    THEMIS,
    for_setting,
    large_groups,
    method_trials,
)


def test_every_method_is_run_with_every_seed_beside_the_chance_level_of_its_groups(setting):
    trials = method_trials(setting, {"movielens-1m": [THEMIS, large_groups(0.01), DPSO]})
    levels = [trial.labels["min_support"] for trial in trials if trial.kind == "chance"]
    assert levels == [0.001, 0.01]
    searches = [
        (trial.labels["method"], trial.labels["seed"]) for trial in trials if trial.kind == "search"
    ]
    titles = (THEMIS.title, "TestSGD 0.01", DPSO.title)
    assert searches == [(title, seed) for title in titles for seed in (0, 1)]


def test_testsgd_is_compared_with_groups_of_its_own_size():
    assert large_groups(0.01).min_support == 0.01
    assert large_groups(0.0001).min_support == 0.001
    assert large_groups(0.01).hyper == {"theta": 0.01}


def test_only_a_quick_run_hurries_what_takes_long(setting):
    assert for_setting(FAIRAS, setting).hyper == {"rounds": 4}
    assert for_setting(ADAPTIVE, setting).hyper == {"findings": 0.0, "steps": 1, "at_once": 16}
    assert for_setting(DPSO, setting) is DPSO
    slow = replace(setting, options=replace(setting.options, quick=False))
    assert for_setting(ADAPTIVE, slow) is ADAPTIVE
    assert for_setting(FAIRAS, slow) is FAIRAS
