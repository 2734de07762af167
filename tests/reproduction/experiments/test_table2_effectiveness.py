from __future__ import annotations

from collections import Counter

from fairrec.reproduction.experiments.table2_effectiveness import plan


def test_all_methods_of_the_paper_and_ours_are_run_with_every_seed(setting):
    trials = plan(setting)
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
