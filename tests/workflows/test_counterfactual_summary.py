"""What a counterfactual says of all users."""

from __future__ import annotations

import polars as pl

from tests.workflows.flipped_world import (
    N_ITEMS,
    N_USERS,
    Counted,
    by_proxy,
    direct,
    flipped,
    people,
)


def test_a_proxy_is_not_seen_and_the_page_says_so_beside_the_audit():
    found = flipped(by_proxy)
    assert found.summary.affected.n_affected == 0
    assert not any(metric.findings for metric in found.audit.metrics.values())
    # the audit of the lists as they are sees it
    as_is = found.summary.as_they_are["mrr@3"]
    assert as_is.n_findings > 0
    assert as_is.means["gender=F"] < as_is.means["gender=M"] - 0.3
    said = " ".join(found.audit.warnings)
    assert "what the model knows of it by other ways" in said
    assert "As they are: mrr@3" in said


def test_it_costs_two_scorings_and_nobody_is_scored_twice_as_they_are():
    model = Counted(direct)
    found = flipped(model)
    assert len(model.pairs) == len({*model.pairs}) == 2 * N_USERS * N_ITEMS
    assert found.summary.paid.rows == 2 * N_USERS * N_ITEMS


def test_values_that_few_have_are_counted_and_not_told():
    users = people().users.with_columns(
        age=pl.when(pl.col("user_id") < 5).then(99).otherwise("age")
    )
    found = flipped(
        lambda user_ids, item_ids, age: age * item_ids,
        users=users,
        by="gender",
        features="users:age",
        attribute="age",
        metrics="mrr@3",
        permutations=0,
    ).summary
    # nobody else is set to be one of them, either, without being told
    assert {pair.of for pair in found.pairs} == {"age=20", "age=40", "age=60"}
    assert found.n_small == 3
    assert "age=99" not in found.as_they_are["mrr@3"].means
