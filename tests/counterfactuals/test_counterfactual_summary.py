"""What a counterfactual says of all users."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.scoring.model import FunctionModel
from tests.counterfactuals.flipped_world import (
    N_ITEMS,
    N_USERS,
    Counted,
    blind,
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


def test_means_before_and_after_are_of_the_same_users():
    # of half of the items the price is not known, so that many lists have none before or after
    items = pl.DataFrame({"item_id": range(0, N_ITEMS, 2), "price": np.arange(0, N_ITEMS, 2.0)})
    given = {"items": items, "metrics": "mean@1[price]", "permutations": 0}
    found = flipped(direct, **given)
    before = fairrec.audit(
        people().candidates,
        users=people().users,
        by="gender",
        scorer=FunctionModel(direct, features="users:gender,town"),
        **given,
    ).per_user["mean@1[price]"]
    change = found.audit.per_user["mean@1[price]_change"]
    assert change.null_count() > before.null_count() > 0
    of_both = before.filter(change.is_not_null())
    assert found.summary.as_they_are["mean@1[price]"].mean == pytest.approx(of_both.mean())
    assert of_both.mean() != pytest.approx(before.mean())


def test_users_who_are_all_alike_have_no_interval_and_shares_end_at_their_bounds():
    none = flipped(blind, permutations=0).summary.changes
    assert (none["changed@3"].mean, none["changed@3"].low, none["changed@3"].high) == (
        0,
        None,
        None,
    )
    # nobody of 600 was seen to be affected, and some may be
    assert none["affected@3"].low == 0 < none["affected@3"].high < 0.01

    def one_user(user_ids, item_ids, gender):
        return np.where((user_ids == 7) & (gender == "F"), item_ids, -item_ids)

    rare = flipped(one_user, features="users:gender", permutations=0).summary.changes["changed@3"]
    assert 0 == rare.low < rare.mean < rare.high


def test_only_what_would_be_nothing_without_a_change_has_a_p_value():
    changes = flipped(direct, metrics="changed@3,rbo@3,mrr@3").summary.changes
    assert changes["mrr@3_change"].p_value is not None
    # 1 if nothing changes, and no list is beyond chance because it overlaps with itself
    assert changes["rbo@3"].p_value is None and changes["changed@3"].p_value is None


def test_the_audit_beside_it_is_headed_by_what_was_changed():
    found = flipped(direct)
    assert found.audit.summary.title.startswith("Gender alone changes the first 3 places of")
    assert flipped(direct, title="Mine").audit.summary.title == "Mine"
