"""Ratios and inequality, named."""

from __future__ import annotations

from pytest import approx

import fairrec
from tests.builders import audit, make_tables, one_each, two_groups


def test_a_group_has_its_ratios_by_name():
    predictions, users = two_groups(100)
    (by_group,) = audit(predictions, users, "group").summary.ratios.metrics["mrr@5"].by
    assert by_group.attributes == ("group",)
    odd, even = by_group.groups
    assert (odd.group, even.group) == ({"group": "odd"}, {"group": "even"})
    assert (odd.value, odd.to_best, odd.to_rest, odd.support) == (0.5, 0.5, 0.5, 50)
    assert odd.to_best_interval == approx(odd.to_rest_interval)
    assert odd.to_rest_interval[0] < 0.5 < odd.to_rest_interval[1]
    assert even.to_best == 1 and even.to_best_interval[1] == 1
    # nobody of them is above the median of all, 0.75
    assert (odd.rate, odd.impact_ratio, even.rate, even.impact_ratio) == (0, 0, 1, 1)
    assert odd.left_out is None


def test_all_metrics_stand_there_in_the_order_asked_for_with_reasons():
    tables = make_tables(200)
    result = audit(
        tables.predictions,
        tables.users,
        "gender,member",
        metrics=["pooled_auc", "mrr@3", "urp@3"],
        history=tables.history,
    )
    ratios = result.summary.ratios
    assert [*ratios.metrics] == ["pooled_auc", "mrr@3", "urp@3"]
    pooled = ratios.metrics["pooled_auc"]
    assert pooled.why_no_ratios == pooled.why_no_inequality == "it is no mean over users"
    assert (pooled.by, pooled.splits, pooled.gini) == ((), (), None)
    assert ratios.metrics["urp@3"].why_no_ratios == "neither end is better"
    mrr = ratios.metrics["mrr@3"]
    assert mrr.why_no_ratios is None and mrr.threshold is not None
    assert [one.attributes for one in mrr.by] == [("gender",), ("member",), ("gender", "member")]
    by_gender = mrr.by[0]
    n_unknown = result.per_user.filter(gender="(missing)").drop_nulls("mrr@3").height
    assert by_gender.n_unknown == n_unknown > 0
    assert by_gender.groups[-1].left_out == "unknown"
    assert [split.attributes for split in mrr.splits] == [
        *(("gender",), ("member",), ("gender", "member"))
    ]
    for split in mrr.splits:
        assert split.between + split.within == approx(mrr.theil)
    worst, expected = mrr.splits[-1].worst_off, result.metrics["mrr@3"].disadvantaged
    assert (worst.group, worst.support) == (expected.group, expected.support)
    assert worst.value == approx(expected.value)


def test_where_the_rest_has_nothing_there_is_no_ratio_to_it():
    predictions = one_each({f"u{i}": 1 if i < 20 else 3 for i in range(40)})
    users = two_groups(40, group=["x"] * 20 + ["y"] * 20)[1]
    result = audit(predictions, users, "group", metrics="hit@1")
    (by_group,) = result.summary.ratios.metrics["hit@1"].by
    of_y, of_x = by_group.groups
    assert (of_x.to_rest, of_x.to_rest_interval) == (None, None)
    assert of_y.to_rest == of_y.to_rest_interval[0] == 0 < of_y.to_rest_interval[1]


def test_after_a_search_of_some_there_are_reasons_instead_of_ratios():
    tables = make_tables(200)
    result = audit(
        tables.predictions,
        tables.users,
        "gender",
        search=fairrec.Search("random", budget_users=50),
    )
    mrr = result.summary.ratios.metrics["mrr@5"]
    assert mrr.why_no_ratios == mrr.why_no_inequality == "not everyone is scored"
    everyone = audit(tables.predictions, tables.users, "gender", search="exact")
    plain = audit(tables.predictions, tables.users, "gender")
    assert everyone.summary.ratios == plain.summary.ratios
    assert plain.summary.ratios.metrics["mrr@5"].by
