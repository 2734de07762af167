from __future__ import annotations

from dataclasses import replace

import polars as pl

from fairrec_paper.reproduction.mitigations import (
    FRESH,
    METRICS,
    ORACLE,
    SAME,
    SIGNED,
    outcome_of_mitigation,
    plan_mitigation,
)


def test_an_oracle_is_only_asked_for_what_labels_tell(setting):
    ways = {metric: [] for metric in METRICS}
    full = replace(setting, options=replace(setting.options, quick=False))
    for trial in plan_mitigation(full):
        ways[trial.labels["metric"]].append(trial.labels["way"])
    assert ways["mrr@5"] == ways["ndcg@5"] == [FRESH, SAME, ORACLE]
    assert ways["urd@5"] == ways["urp@5"] == ways[SIGNED] == [FRESH, SAME]


def mitigated(metric: str) -> dict[str, object]:
    values = dict.fromkeys(
        [
            *("strength", "n_groups", "n_chosen", "n_users", "chosen_by", "before", "after"),
            *("p_change", "gap_before", "gap_after", "chance_before", "chance_after"),
            *("p_before", "p_after", "ndcg_before", "ndcg_after"),
        ],
        0.5,
    )
    row = {"dataset": "movielens-1m", "model": "deepfm", "metric": metric, "way": FRESH}
    return {**row, "reranker": f"for {metric}", **values}


def shown(table) -> list[dict[str, str]]:
    return [dict(zip(table.view.columns, row, strict=True)) for row in table.view.rows]


def test_both_published_tables_and_the_reranker_stand_beside_ours(setting):
    groups, gaps = outcome_of_mitigation(
        setting, {"mitigation": pl.DataFrame([mitigated("mrr@5")])}
    ).tables
    assert groups.data["published_before"].to_list() == [0.1783]
    for table, published in ((groups, "0.178 to 0.335"), (gaps, "0.577 to 0.396")):
        (row,) = shown(table)
        assert (row["published"], row["re-ranker"]) == (published, "for mrr@5")


def test_the_published_urp_of_groups_stands_beside_the_signed_one(setting):
    rows = pl.DataFrame([mitigated("urp@5"), mitigated(SIGNED)])
    result = outcome_of_mitigation(setting, {"mitigation": rows})
    groups, gaps = result.tables
    assert [row["published"] for row in shown(groups)] == ["-", "0.0119 to 0.0102"]
    assert [row["published"] for row in shown(gaps)] == ["0.0594 to 0.0525"] * 2
    assert any("Gomez" in note for note in result.notes)
