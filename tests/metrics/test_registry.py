"""Names of metrics, the decorator that adds one, and what is asked of what it returns."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import FairRecError, InputError, MetricError, UnknownNameError
from fairrec.core.tolerance import Tolerance
from fairrec.metrics import metric, parse_metric
from fairrec.metrics.direction import badness, harm
from fairrec.metrics.measured import Measured
from fairrec.metrics.parsing import side_of
from fairrec.metrics.tolerance import parse_tolerance, refuse_unfit_to
from fairrec.metrics.value_columns import metric_of_column


def audited_values(metrics: str) -> dict[str, list[float | None]]:
    """Per-user values of four users; the second relevant item of users 1 and 2 is far down."""
    users = pl.DataFrame({"user_id": [1, 2, 3, 4], "gender": ["F", "F", "M", "M"]})
    predictions = pl.DataFrame(
        {
            "user_id": [1, 2, 3, 4],
            "item_id": [[1, 2, 3, 4]] * 4,
            "score": [[4.0, 3.0, 2.0, 1.0]] * 4,
            "label": [[1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]],
        }
    )
    result = fairrec.audit(
        predictions,
        users=users,
        by="gender",
        metrics=metrics,
        statistics=fairrec.Statistics(permutations=9),
        min_support=1,
    )
    return {name: result.per_user[name].to_list() for name in result.metrics}


def test_a_taken_name_is_refused():
    with pytest.raises(FairRecError, match="The metric 'ndcg' is registered already"):
        metric("ndcg")(lambda lists, k: np.zeros(lists.n_users))


@pytest.mark.parametrize("name", ["", "a@b", "a,b"])
def test_a_name_that_could_not_be_asked_for_is_refused(name):
    with pytest.raises(MetricError, match="cannot be called"):
        metric(name)


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        (0.5, r"returned shape \(\) for 4 users. Return one number per user"),
        (None, r"returned shape \(\) for 4 users"),
        ([[1], [2], [3], [4]], r"returned shape \(4, 1\) for 4 users"),
        ([1, None, 2, 3], "returned object. Return numbers"),
        ([1, np.inf, 2, -np.inf], "has infinite values. Return NaN"),
    ],
    ids=["number", "nothing", "a table", "objects", "infinity"],
)
def test_a_metric_must_return_one_number_per_user(returned, complaint):
    metric("mine")(lambda lists: returned)
    with pytest.raises(MetricError, match=complaint):
        audited_values("mine")


def test_a_cutoff_is_read_and_the_default_is_5():
    assert (parse_metric("ndcg@10").name, parse_metric("ndcg@10").k) == (
        "ndcg@10",
        10,
    )
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


@pytest.mark.parametrize("text", ["ndcg@0", "ndcg@x", "ndcg@", "ndcg@2.5"])
def test_a_cutoff_is_a_whole_number_from_1(text):
    with pytest.raises(InputError, match=f"'{text}': the cut-off must be .* Example: ndcg@5"):
        parse_metric(text)


@pytest.mark.parametrize("text", ["auc@5", "auc@"])
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
    ["share", "share@5[pay]", "share@5[pay=]"],
)
def test_brackets_hold_a_column_and_a_value(text):
    with pytest.raises(InputError, match=r"Name it in brackets: share@5\[pay=high\]$"):
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


def test_a_metric_is_known_in_small_letters_and_by_names_of_other_libraries():
    assert parse_metric("NDCG@3").name == "ndcg@3"
    assert parse_metric(" Auc ").name == "auc"
    with pytest.raises(UnknownNameError, match="The nearest here is 'hit'"):
        parse_metric("Hit_Ratio@5")


@pytest.mark.parametrize(
    ("higher_is_better", "harms", "worst"),
    [(True, [0.5, -0.25], 0), (False, [-0.5, 0.25], 1), (None, [0.5, 0.25], 0)],
)
def test_harm_is_positive_where_a_group_is_worse_off(higher_is_better, harms, worst):
    differences = np.array([-0.5, 0.25])
    assert harm(differences, higher_is_better).tolist() == harms
    assert [harm(float(one), higher_is_better) for one in differences] == harms
    assert np.argmax(badness(differences, higher_is_better)) == worst


WANTED = [parse_metric("ndcg@10"), parse_metric("mrr")]


WATCH = metric_of_column("watch", {}, "the values")


def checked(given) -> str:
    return str(parse_tolerance(Tolerance.parse(given), WANTED))


def measured(values: list[float], is_complete: bool = True) -> Measured:
    everyone = np.ones(len(values), dtype=bool)
    is_scored = everyone if is_complete else np.arange(len(values)) > 0
    return Measured((WATCH,), np.array([values], dtype=np.float64), is_scored, everyone)


def test_metrics_are_named_as_they_are_where_they_are_asked_for():
    assert checked("NDCG@10=0.03") == "ndcg@10=0.03"
    assert checked({"mrr": "5%", "ndcg@10": 0.99}) == "mrr@5=5%,ndcg@10=0.99"
    assert parse_tolerance(None, WANTED) is None
    # a share of nothing else does no harm, so that settings may be for more metrics
    assert checked("ndcg@10=0.1,mrr=0.1,5%") == "ndcg@10=0.1,mrr@5=0.1,5%"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("ndgc@10=0.03", "tolerance: No audited metric 'ndgc@10'. Did you mean 'ndcg@10'? Known: "),
        ("auc=0.03", "tolerance: No audited metric 'auc'. Known: mrr@5, ndcg@10."),
        ("NDCG@10=0.03,ndcg@10=0.05", "tolerance: 'ndcg@10' is named twice."),
        (5, "tolerance='5': ndcg@10 runs from 0 to 1, so no group can be worse by more. Give an "
            "amount below 1. Was 5% of the mean meant?"),
        (1, "tolerance='1': ndcg@10 runs from 0 to 1, "),
        ("ndcg@10=0.1,500", "tolerance='500': mrr@5 runs from 0 to 1, "),
    ],
)  # fmt: skip
def test_what_is_no_harm_of_an_audited_metric_is_refused(given, says):
    with pytest.raises(InputError) as caught:
        checked(given)
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    ("given", "values", "says"),
    [
        ("5%", [-3, 4], r"tolerance='5%': watch has values below 0 \(such as -3\)"),
        ("5%", [-3, -2], r"Give an amount: tolerance=\{'watch': \.\.\.\}"),
        (5, [0, 0.8], r"watch runs from 0 to 0\.8, .* below 0\.8\. Was 5% of the mean meant\?"),
        (1, [0, 1], "watch runs from 0 to 1"),
    ],
)
def test_what_the_values_make_no_harm_is_refused(given, values, says):
    with pytest.raises(InputError, match=says):
        refuse_unfit_to(Tolerance.parse(given), measured(values))


@pytest.mark.parametrize(
    ("given", "values"),
    [("5%", [0, 4]), (5, [-3, 4]), (0.5, [0, 0.8]), (5, [7, 7]), ("ctr=5", [0, 1])],
)
def test_a_harm_that_values_can_have_stays(given, values):
    refuse_unfit_to(Tolerance.parse(given), measured(values))


def test_some_users_do_not_say_how_far_all_are_apart():
    refuse_unfit_to(Tolerance.parse(5), measured([np.nan, 0, 0.8], is_complete=False))
    with pytest.raises(InputError, match="values below 0"):
        refuse_unfit_to(Tolerance.parse("5%"), measured([np.nan, -1, 0.8], is_complete=False))
