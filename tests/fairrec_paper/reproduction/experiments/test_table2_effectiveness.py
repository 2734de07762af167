from __future__ import annotations

from collections import Counter
from dataclasses import replace

from fairrec_paper.reproduction.data import DataCatalogue
from fairrec_paper.reproduction.gaps import plan_effectiveness
from tests.fairrec_paper.reproduction.trial_rows import silent


def test_all_methods_of_the_paper_and_ours_are_run_with_every_seed(setting):
    trials = plan_effectiveness(setting)
    searches = Counter(trial.labels["method"] for trial in trials if trial.kind == "search")
    assert searches == dict.fromkeys(
        [
            *("Themis", "TestSGD 0.01", "TestSGD 0.005", "FairRec (dpso)"),
            "FairAS (fairas)",
            *("ours: exact, one pass", "ours: adaptive", "ours: adaptive, 10% of users"),
        ],
        2,
    )
    levels = [trial.labels["min_support"] for trial in trials if trial.kind == "chance"]
    assert levels == [0.001, 0.005, 0.01]


def test_fairas_has_ten_rounds_too_where_its_own_results_have_them(setting, tmp_path):
    songs = DataCatalogue([], tmp_path, quick=True).get("lfm360k", silent)
    options = replace(setting.options, quick=False)
    trials = plan_effectiveness(replace(setting, sources=(songs,), options=options))
    rounds = [
        (trial.labels["method"], trial.about["hyper"].get("rounds"))
        for trial in trials
        if "FairAS" in trial.labels.get("method", "")
    ]
    assert {*rounds} == {("FairAS (fairas)", None), ("FairAS, 10 rounds", 10)}
