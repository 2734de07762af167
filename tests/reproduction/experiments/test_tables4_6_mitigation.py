from __future__ import annotations

import polars as pl

from fairrec.reproduction.experiments.tables4_6_mitigation import METRICS, outcome, plan
from fairrec.reproduction.trials.mitigation import FRESH, ORACLE, SAME


def test_an_oracle_is_only_asked_for_what_labels_tell(setting):
    ways = {metric: [] for metric in METRICS}
    for trial in plan(setting):
        ways[trial.labels["metric"]].append(trial.labels["way"])
    assert ways["mrr@5"] == ways["ndcg@5"] == [FRESH, SAME, ORACLE]
    assert ways["urd@5"] == ways["urp@5"] == [FRESH, SAME]


def test_both_published_tables_stand_beside_ours(setting):
    row = {"dataset": "movielens-1m", "model": "deepfm", "metric": "mrr@5", "way": FRESH}
    values = dict.fromkeys(
        [
            *("strength", "n_groups", "n_chosen", "n_users", "chosen_by", "before", "after"),
            *("p_change", "gap_before", "gap_after", "chance_before", "chance_after"),
            *("p_before", "p_after", "ndcg_before", "ndcg_after"),
        ],
        0.5,
    )
    groups, gaps = outcome(setting, {"mitigation": pl.DataFrame([row | values])}).tables
    assert groups.data["published_before"].to_list() == [0.1783]
    assert dict(zip(groups.view.columns, groups.view.rows[0], strict=True))["published"].startswith(
        "0.178 to "
    )
    assert gaps.view.rows[0][-2].endswith(" to 0.396")
