"""Users without a list or a value: counted, tested by group, and never an all-clear."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.audit_result import AuditResult
from fairrec.report.verdict import build_status
from tests.builders import one_each
from tests.grouped_options import group_options

N_USERS = 200
ALPHA = 0.05


def users_of(n_users: int = N_USERS) -> pl.DataFrame:
    """Two attributes of two and four values, in groups of the same size."""
    ids = np.arange(n_users)
    return pl.DataFrame({"user_id": ids, "gender": ids % 2, "age": ids // 2 % 4})


def labelled(has_relevant: np.ndarray, place: int = 1) -> pl.DataFrame:
    """Candidates; who has a relevant one has it at this place."""
    ranks = {user: place if has else None for user, has in enumerate(has_relevant.tolist())}
    return one_each(ranks)


def served(has_list: np.ndarray, hits: np.ndarray | None = None) -> dict[str, pl.DataFrame]:
    """Recommendations of items 1 and 2, of which 1 is held out where there is to be a hit."""
    ids = np.arange(len(has_list))
    hits = np.ones(len(ids), dtype=bool) if hits is None else hits
    return {
        "predictions": pl.DataFrame(
            {
                "user_id": np.repeat(ids[has_list], 2),
                "item_id": np.tile([1, 2], int(has_list.sum())),
                "rank": np.tile([1, 2], int(has_list.sum())),
            }
        ),
        "test": pl.DataFrame({"user_id": ids, "item_id": np.where(hits, 1, 9)}),
    }


def audited(tables: dict[str, pl.DataFrame], **options) -> AuditResult:
    settings = {"by": "gender,age", "metrics": "recall@2", "permutations": 99, "alpha": ALPHA}
    n_users = options.pop("n_users", N_USERS)
    given = {"users": users_of(n_users), "min_support": 5, "threads": 1, **settings, **options}
    return fairrec.audit(**group_options(**tables, **given))


def test_a_group_without_lists_is_served_worst_and_said_to_be_missing():
    users = users_of()
    is_old = (users["age"] == 3).to_numpy()
    rng = np.random.default_rng(1)
    tables = served(~is_old, rng.random(N_USERS) < 0.5)
    zero = audited(tables)
    (without,) = zero.summary.missing
    assert (without.kind, without.n_missing, without.n_users) == ("no list", 50, N_USERS)
    assert without.counts_as_zero
    assert without.findings[0].group == {"age": 3}
    assert (without.findings[0].value, without.findings[0].difference) == (1, 1)
    assert zero.metric("recall@2").findings[0].group == {"age": 3}
    # without them the rest looks alike, and that is no all-clear
    drop = audited(tables, missing_lists="drop")
    assert drop.metric("recall@2").findings == ()
    (without,) = drop.summary.missing
    assert without.findings[0].group == {"age": 3}
    assert drop.metrics["recall@2"].undefined_share == 50 / N_USERS
    assert build_status(drop.metrics["recall@2"]) == "inconclusive"


def test_each_metric_counts_users_without_a_list_as_zero_or_leaves_them_out():
    items = pl.DataFrame({"item_id": [1, 2], "categories": [["a"], ["b"]]})
    tables = served(np.arange(N_USERS) >= 10)
    result = audited(tables, items=items, metrics="recall@2,coverage@2,urd@2")
    zero, left_out = result.summary.missing
    assert (zero.counts_as_zero, zero.metrics) == (True, ("recall@2", "coverage@2"))
    assert (left_out.counts_as_zero, left_out.metrics) == (False, ("urd@2",))
    assert zero.n_missing == left_out.n_missing == 10


def test_a_group_without_hits_among_its_candidates_is_no_all_clear():
    users = users_of()
    has_none = ((users["gender"] == 0) & (users["age"] == 2)).to_numpy()
    result = audited({"predictions": labelled(~has_none)}, metrics="mrr,ndcg")
    (without,) = result.summary.missing
    assert (without.kind, without.metrics) == ("no relevant item", ("mrr@5", "ndcg@5"))
    assert without.findings[0].group == {"gender": 0, "age": 2}
    assert {build_status(found) for found in result.metrics.values()} == {"inconclusive"}
    # given what was held out, the group has 0 and is found
    found = audited(served(np.ones(N_USERS, dtype=bool), ~has_none))
    assert found.metric("recall@2").findings[0].group == {"gender": 0, "age": 2}
    assert found.summary.missing == ()


@pytest.mark.parametrize(
    ("n_missing", "max_undefined", "is_conclusive"),
    [(10, 0.05, True), (11, 0.05, False), (10, 0.049, False), (1, 0, False), (0, 0, True)],
)
def test_as_many_as_are_let_pass_are_conclusive_and_one_more_is_not(
    n_missing, max_undefined, is_conclusive
):
    # one for each group in turn, so that no group differs
    has_relevant = np.arange(N_USERS) >= n_missing
    result = audited(
        {"predictions": labelled(has_relevant)}, metrics="mrr", max_undefined=max_undefined
    )
    found = result.metrics["mrr@5"]
    assert not any(one.findings for one in result.summary.missing)
    assert found.undefined_share == n_missing / N_USERS
    assert found.is_conclusive == is_conclusive
    assert result.summary.max_undefined == max_undefined


def kinds_of(result: AuditResult) -> dict[str, bool]:
    return {one.kind: one.is_too_much for one in result.summary.missing}


def test_whoever_has_only_what_was_not_asked_for_is_not_forgotten():
    """Ratings below the threshold are held-out rows too: their users ought to be served."""
    is_old = (users_of()["age"] == 3).to_numpy()
    tables = served(~is_old, np.random.default_rng(2).random(N_USERS) < 0.5)
    rated = tables["test"].with_columns(rating=pl.Series(np.where(is_old, 2, 5)))
    options = {"metrics": "recall@2,coverage@2", "relevant": "rating>=4"}
    result = audited({**tables, "test": rated}, **options)
    assert kinds_of(result) == {"no list": True, "no relevant item": True}
    assert result.metric("coverage@2").findings[0].group == {"age": 3}
    assert build_status(result.metrics["recall@2"]) == "inconclusive"
    # spread over all groups it is no news, whatever its share: who asks for ratings gets them
    rated = tables["test"].with_columns(rating=pl.Series(np.arange(N_USERS) // 8 % 2 * 3 + 2))
    everyone = served(np.ones(N_USERS, dtype=bool))
    result = audited({**everyone, "test": rated}, **options)
    assert kinds_of(result) == {"no relevant item": False}
    assert result.metrics["recall@2"].undefined_share == 0
    # a column of the table's own that says the same counts as it stands
    graded = rated.with_columns(rating=(pl.col("rating") > 2).cast(pl.Int8))
    result = audited({**everyone, "test": graded})
    assert result.metrics["recall@2"].undefined_share == (graded["rating"] == 0).mean()
    assert build_status(result.metrics["recall@2"]) == "inconclusive"


def test_a_group_that_is_in_neither_table_is_no_all_clear():
    is_old = (users_of()["age"] == 3).to_numpy()
    tables = served(np.ones(N_USERS, dtype=bool), np.random.default_rng(3).random(N_USERS) < 0.5)
    for gone, is_too_much in ((is_old, True), (np.arange(N_USERS) % 16 < 8, False)):
        ids = np.flatnonzero(~gone).tolist()
        left = {name: table.filter(pl.col("user_id").is_in(ids)) for name, table in tables.items()}
        result = audited(left)
        assert kinds_of(result) == {"not evaluated": is_too_much}
        assert result.metrics["recall@2"].is_conclusive is not is_too_much
    # lists without anything held out show that all were to be served
    half = is_old & (np.arange(N_USERS) % 3 == 0)
    tables["predictions"] = tables["predictions"].filter(
        pl.col("user_id").is_in(np.flatnonzero(~half).tolist())
    )
    held_out = pl.col("user_id").is_in(np.flatnonzero(~half).tolist()) & (pl.col("user_id") != 0)
    result = audited({**tables, "test": tables["test"].filter(held_out)})
    assert kinds_of(result) == {"no held-out items": False, "not evaluated": True}


def test_a_rare_way_to_be_missing_does_not_hide_another():
    rng = np.random.default_rng(4)
    is_old = (users_of()["age"] == 3).to_numpy()
    common = np.where(is_old & (rng.random(N_USERS) < 0.5), np.nan, rng.random(N_USERS))
    rare = np.where(np.arange(N_USERS) == 7, np.nan, rng.random(N_USERS))
    ids = {"user_id": np.arange(N_USERS)}
    given = {"metrics": None, "better": {"common": "higher", "rare": "higher"}}
    result = audited({"values": pl.DataFrame({**ids, "common": common, "rare": rare})}, **given)
    found = {one.metrics: bool(one.findings) for one in result.summary.missing}
    assert found == {("common",): True, ("rare",): False}
