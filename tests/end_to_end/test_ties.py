"""Equal scores are worth what chance is, are said, and leave nothing to the order of rows."""

from __future__ import annotations

import json
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl
from pytest import approx

import fairrec
from fairrec.auditing import count
from fairrec.inputs.order import TiedLists
from fairrec.inputs.partition import open_parts
from fairrec.report.covariates import covariate_lines
from tests.grouped_options import group_options
from tests.recommendations import Served

N, LENGTH = 600, 30
CHANCE = sum(1 / np.log2(place + 1) for place in range(1, 11)) / LENGTH
METRICS = "ndcg@10,mrr@10,hit@10,recall@10,map@10,auc,urd@5,novelty@5"


@cache
def tables() -> dict[str, pl.DataFrame]:
    """Each user's positive first; of the new ones, 15%, the model knows nothing."""
    rng = np.random.default_rng(3)
    is_new = np.arange(N) % 20 < 3
    label = np.tile(np.arange(LENGTH) == 0, (N, 1)).astype(float)
    score = rng.random((N, LENGTH)) + 0.4 * label
    score[is_new] = 0.5
    rows = {
        "user_id": np.repeat(np.arange(N), LENGTH),
        "item_id": np.concatenate([rng.choice(200, LENGTH, replace=False) for _ in range(N)]),
        "score": score.ravel(),
        "label": label.ravel(),
    }
    items = {"item_id": np.arange(200), "categories": [f"c{i % 7}|d{i % 3}" for i in range(200)]}
    return {
        "predictions": pl.DataFrame(rows),
        "users": pl.DataFrame(
            {
                "user_id": np.arange(N),
                "kind": np.where(is_new, "new", "old"),
                "plan": rng.choice(["free", "paid"], N),
            }
        ),
        "items": pl.DataFrame(items),
        "history": pl.DataFrame({"user_id": np.arange(N), "item_id": np.arange(N) ** 2 % 200}),
    }


def audit(**changes: Any) -> fairrec.AuditResult:
    given = {**tables(), "by": "kind,plan", "metrics": METRICS, "permutations": 200, **changes}
    return fairrec.audit(**group_options(**given))


def content(result: fairrec.AuditResult) -> dict[str, Any]:
    """All that is said but of the tables themselves."""
    return json.loads(result.summary.model_dump_json(exclude={"inputs", "command"}))


def shuffled(name: str, seed: int = 0) -> pl.DataFrame:
    return tables()[name].sample(fraction=1, shuffle=True, seed=seed)


def test_the_order_of_rows_says_nothing_of_users_of_whom_the_model_knows_nothing():
    result = audit()
    assert content(audit(predictions=shuffled("predictions"))) == content(result)
    (finding, *_) = result.metric("ndcg@10").findings
    assert finding.group == {"kind": "new"}
    assert finding.value == approx(CHANCE)
    assert finding.difference < -0.1


def test_tied_lists_are_counted_said_and_a_covariate():
    result = audit()
    assert result.summary.ties == TiedLists(10, N, N * 3 // 20, N * 3 // 20, N * 3 // 20)
    assert result.summary.warnings[0] == (
        "the lists of 90 of 600 users have equal scores at place 10 (90 of them one score "
        "throughout), so that chance decides what comes first; metrics are means over all orders "
        "of equal scores"
    )
    # two in three of the new users have this plan, and one in eight of the others
    new, at = pl.col("kind") == "new", pl.col("user_id") // 20
    is_basic = pl.when(new).then(at % 3 > 0).otherwise(at % 8 == 0)
    users = tables()["users"].with_columns(plan=is_basic)
    summary = audit(users=users, by="plan", metrics="mrr@10").summary
    (one,) = [one for one in summary.confounders if one.group == {"plan": True}]
    assert one.covariate == "tied_at_cutoff"
    assert one.explains / one.difference == approx(1, abs=0.3)
    (line,) = [line for line in covariate_lines(summary) if "plan=True" in line]
    assert line.startswith("plan=True: 47% of lists have equal scores at the cut-off")
    given = audit(by="plan", adjust_for="tied_at_cutoff", metrics="ndcg@10")
    assert given.summary.adjustment.n_strata == 2


def test_rows_counts_and_parts_agree(tmp_path, monkeypatch):
    given = {name: tables()[name] for name in ("users", "items", "history")}
    for name, table in {**given, "predictions": shuffled("predictions")}.items():
        table.write_parquet(tmp_path / f"{name}.parquet", row_group_size=500)
    files = {name: tmp_path / f"{name}.parquet" for name in tables()}
    by_rows, asked = audit(), {"by": "kind,plan", "metrics": METRICS}
    counts = fairrec.count(**group_options(**files, **asked))
    of_counts = fairrec.audit(counts=counts, statistics=fairrec.Statistics(permutations=200))
    monkeypatch.setattr(count, "open_parts", partial(open_parts, n_rows=2000))
    monkeypatch.setattr("fairrec.auditing.audit.is_large", lambda *_: True)
    in_parts = audit(**files)
    assert of_counts.summary.ties == in_parts.summary.ties == by_rows.summary.ties
    for other in (of_counts, in_parts):
        assert other.summary.warnings[0] == by_rows.summary.warnings[0]
        for name, about in by_rows.metrics.items():
            assert other.metrics[name].mean == approx(about.mean, rel=1e-12)
            assert other.metrics[name].gap == approx(about.gap, rel=1e-9)
    assert in_parts.per_user_parts is not None
    values = in_parts.per_user_parts.collect().sort("user_id").select(*by_rows.metrics)
    assert by_rows.per_user.select(*by_rows.metrics).equals(values)


def test_lists_as_served_are_to_have_their_ranks():
    served = Served({u: [u, u + 1, u + 2] for u in range(30)}, {u: {u: 1.0} for u in range(30)})
    users = pl.DataFrame({"user_id": [*range(30)], "group": ["a", "b"] * 15})
    ranked = served.recommendations("both")
    tied = ranked.with_columns(score=pl.when(pl.col("user_id") < 12).then(1.0).otherwise("score"))
    asked = {"users": users, "test": served.test(), "by": "group", "metrics": "mrr@2"}
    by_score = fairrec.audit(tied.drop("rank"), **group_options(**asked))
    assert by_score.summary.warnings[0] == (
        "12 of 30 lists have equal scores in the first 2 places: metrics are means over their "
        "orders, unless the order is given: tables=fairrec.Tables(columns={'rank': ...})"
    )
    assert by_score.per_user["mrr@2"][0] == approx((1 + 1 / 2 + 0) / 3)
    by_rank = fairrec.audit(tied, **group_options(**asked))
    assert by_rank.per_user["mrr@2"].to_list() == [1] * 30
    assert by_rank.summary.ties.n_tied == 0
