"""Metrics as they are asked for."""

from __future__ import annotations

import pytest

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.metrics import metric
from fairrec.metrics.parsing import parse_metric, side_of


def test_a_cutoff_is_read_and_the_default_is_5():
    assert (parse_metric("ndcg@10").name, parse_metric("ndcg@10").k) == ("ndcg@10", 10)
    assert parse_metric(" mrr ").name == "mrr@5"
    assert (parse_metric("auc").name, parse_metric("auc").k) == ("auc", None)


@pytest.mark.parametrize(
    ("typed", "meant"), [("ndgc", "ndcg"), ("ndgc@3", "ndcg"), ("aucs", "auc")]
)
def test_an_unknown_metric_suggests_the_nearest(typed, meant):
    with pytest.raises(
        UnknownNameError, match=f"Did you mean '{meant}'\\? Known: affected, auc, changed, coverage"
    ):
        parse_metric(typed)


@pytest.mark.parametrize(
    ("typed", "meant"), [("ndcg10", "ndcg@10"), ("Recall-20", "Recall@20"), ("mrr 5", "mrr@5")]
)
def test_a_cutoff_without_its_sign_is_understood(typed, meant):
    with pytest.raises(UnknownNameError, match=rf"No metric '{typed}'\. Did you mean '{meant}'\?$"):
        parse_metric(typed)
    parse_metric(meant)
    with pytest.raises(UnknownNameError, match="Did you mean 'auc'"):
        parse_metric("auc10")


def test_an_unknown_metric_far_from_all_lists_the_known_ones():
    with pytest.raises(
        UnknownNameError, match=r"No metric 'zzz'\. Known: affected, auc, changed, coverage, "
    ):
        parse_metric("zzz@5")


@pytest.mark.parametrize("text", ["ndcg@0", "ndcg@-1", "ndcg@x", "ndcg@", "ndcg@2.5", "ndcg@5@5"])
def test_a_cutoff_is_a_whole_number_from_1(text):
    with pytest.raises(InputError, match=f"'{text}': the cut-off must be .* Example: ndcg@5"):
        parse_metric(text)


@pytest.mark.parametrize("text", ["auc@5", "pooled_auc@5", "auc@"])
def test_a_metric_of_all_candidates_takes_no_cutoff(text):
    name = text.partition("@")[0]
    with pytest.raises(InputError, match=f"looks at all candidates. Write '{name}'"):
        parse_metric(text)


@pytest.mark.parametrize(
    ("text", "name", "of"),
    [
        ("share@10[pay=high]", "share@10[pay=high]", "pay=high"),
        ("Share[ pay = very high ]", "share@5[pay=very high]", "pay=very high"),
        ("share@3[a=b=c]", "share@3[a=b=c]", "a=b=c"),
        ("mean@10[price]", "mean@10[price]", "price"),
    ],
)
def test_what_is_asked_of_a_column_stands_in_brackets(text, name, of):
    found = parse_metric(text)
    assert (found.name, found.of) == (name, of)
    assert parse_metric(found.name) == found


@pytest.mark.parametrize(
    "text",
    ["share", "share@5[]", "share@5[pay]", "share@5[pay=]", "share@5[=high]", "share@5[pay=high"],
)
def test_brackets_hold_a_column_and_a_value(text):
    with pytest.raises(InputError, match=r"Name it in brackets: share@5\[pay=high\]$"):
        parse_metric(text)


@pytest.mark.parametrize(
    "text", ["share@20(pay=high)", "share @ 20 {pay=high}", "share@20[pay:high]"]
)
def test_other_brackets_are_no_part_of_what_is_to_be_written(text):
    with pytest.raises(InputError, match=r"Name it in brackets: share@20\[pay=high\]$"):
        parse_metric(text)


def test_brackets_of_other_metrics_hold_something_else_or_nothing():
    with pytest.raises(InputError, match=r"Name it in brackets: mean@5\[price\]$"):
        parse_metric("mean@5[price=3]")
    with pytest.raises(InputError, match=r"ndcg takes nothing in brackets. Write 'ndcg@5'"):
        parse_metric("ndcg@5[price]")
    with pytest.raises(InputError, match="the cut-off must be a whole number"):
        parse_metric("share@x[pay=high]")


def test_a_metric_of_the_other_side_is_refused_with_what_there_is():
    assert [side_of(text) for text in ("Recommended@3", "share@5[a=b]", "nobody knows")] == [
        *("items", "users", "users")
    ]
    assert side_of(" exposure @ 10") == "items"
    with pytest.raises(InputError) as caught:
        parse_metric("ndcg@5", "items")
    assert str(caught.value) == (
        "Metric 'ndcg' is one of users, and items are compared here. Of items: exposure@k, "
        "recommended@k, exposure_to_relevance@k. An audit with side='users' compares users."
    )


def test_a_metric_is_known_in_any_case_unless_two_differ_by_it_alone():
    assert parse_metric("NDCG@3").name == "ndcg@3"
    assert parse_metric(" Auc ").name == "auc"

    @metric("Gain")
    def gain(lists):
        return lists.labels(1)[:, 0]

    @metric("gain")
    def other_gain(lists):
        return lists.labels(1)[:, 0]

    assert parse_metric("Gain").metric.compute is gain
    assert parse_metric("gain").metric.compute is other_gain
    with pytest.raises(UnknownNameError, match="Did you mean"):
        parse_metric("GAIN")
