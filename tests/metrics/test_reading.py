"""test_reading"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.notes import in_words
from fairrec.inputs.users import MISSING
from fairrec.metrics import parse_metric
from fairrec.metrics.covariates import counted_covariates
from fairrec.metrics.measured import (
    Measured,
    Ratio,
    measure_everyone,
    refuse_undefined,
    values_per_list,
)
from fairrec.metrics.reading import read_inputs
from fairrec.metrics.value_columns import metric_of_column
from tests.builders import make_tables, one_each
from tests.recommendations import Served

TABLES = make_tables()


def read(*tables: str, has_labels: bool = True, **options):
    """The inputs and metrics with these tables beside predictions and users."""
    predictions = TABLES.predictions if has_labels else TABLES.predictions.drop("label")
    given = {name: getattr(TABLES, name) for name in tables}
    return read_inputs(predictions, users=TABLES.users, by="gender", **given, **options)


def names(metrics) -> list[str]:
    return [metric.name for metric in metrics]


@pytest.mark.parametrize(
    ("tables", "has_labels", "expected"),
    [
        ((), True, ["auc", "mrr@5", "ndcg@5"]),
        (("items",), True, ["auc", "mrr@5", "ndcg@5", "urd@5"]),
        (("history", "items"), True, ["auc", "mrr@5", "ndcg@5", "urd@5", "urp@5"]),
        (("history",), False, ["urp@5"]),
    ],
)
def test_by_default_metrics_are_those_the_tables_allow(tables, has_labels, expected):
    assert names(read(*tables, has_labels=has_labels)[1]) == expected


def test_a_metric_named_twice_is_measured_once_in_the_order_named():
    assert names(read(metrics="ndcg, auc,ndcg@5")[1]) == ["ndcg@5", "auc"]
    assert names(read(metrics=["auc", "mrr@3"])[1]) == ["auc", "mrr@3"]


def test_side_data_is_read_where_a_metric_needs_it_or_someone_wants_it():
    assert read("items", "history", metrics="auc")[0].side.categories is None
    assert read("items", "history", metrics="urd")[0].side.categories is not None
    wanted = read("history", metrics="auc", wants=("items", "history"))[0].side
    assert wanted.categories is None
    assert wanted.popularity is not None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"metrics": ()}, "No metric is named"),
        ({"metrics": "auc,urd"}, r"'urd@5' needs the items table\. Give items=\.\.\."),
        ({"metrics": "urp@3"}, "'urp@3' needs the history table"),
        ({"has_labels": False}, "without a label column there is no metric of accuracy"),
        ({"metrics": "mrr", "reserved": ("gender",)}, "'gender' has the name of a column"),
    ],
)
def test_what_cannot_be_measured_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        read(**options)


def served_with(*lengths: int) -> Served:
    """Users with lists of these lengths, and item 0 held out for each."""
    return Served(
        {user: [*range(length)] for user, length in enumerate(lengths)},
        {user: {0: 1.0} for user in range(len(lengths))},
    )


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ((10, 10), ["recall@10", "ndcg@10", "mrr@10"]),
        ((4, 3), ["recall@4", "ndcg@4", "mrr@4"]),
        ((20, 9), ["recall@10", "ndcg@10", "mrr@10"]),
        ((5, 0), ["recall@5", "ndcg@5", "mrr@5"]),
    ],
)
def test_of_recommendations_they_are_no_deeper_than_the_lists(lengths, expected):
    assert [*served_with(*lengths).audit().metrics] == expected


def test_a_metric_of_all_candidates_is_refused_for_recommendations():
    with pytest.raises(InputError) as caught:
        served_with(4, 3).audit(metrics="mrr,auc")
    assert str(caught.value).startswith("Metric 'auc' compares the relevant candidates with all")


def labelled(labels: list[float], **options):
    predictions = pl.DataFrame(
        {
            "user_id": [0, 0, 1, 1],
            "item_id": [1, 2, 1, 2],
            "score": [2, 1, 2, 1],
            "label": labels,
        }
    )
    users = pl.DataFrame({"user_id": [0, 1], "group": ["a", "b"]})
    return read_inputs(predictions, users=users, by="group", **options)


def test_labels_that_look_like_ratings_are_refused_with_a_threshold():
    with pytest.raises(InputError) as caught:
        labelled([1, 2, 5, 3])
    assert str(caught.value) == (
        "the predictions table: 'label' runs from 1 to 5 and is never 0, so every candidate would "
        "be relevant for auc; these look like ratings. Give a threshold: "
        "relevant='label>=4'. Or ask for ndcg alone, which weighs by them."
    )
    assert in_words(labelled([1, 2, 5, 3], metrics="ndcg")[0].notes) == ()
    assert labelled([1, 2, 5, 3], relevant="label>=4")[0].candidates.labels.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([0, 1, 1, 0], None),
        ([0, 2, 2, 0], None),
        ([1, 1, 1, 1], "the predictions table: every candidate is relevant, so no list can miss"),
        ([0, 1, 5, 3], "'label' runs from 0 to 5: ndcg weighs by it, and metrics that count relev"),
    ],
)
def test_what_labels_mean_is_said_where_it_is_in_doubt(labels, says):
    warnings = in_words(labelled(labels, metrics="mrr")[0].notes)
    assert len(warnings) == (says is not None)
    assert all(warning.startswith(says) for warning in warnings)


def ends_of_lists(*lengths: int, metrics: str | None) -> list[str]:
    warnings = served_with(*lengths).audit(metrics=metrics).warnings
    return [note for note in warnings if note.startswith("no list in ")]


def test_a_cut_off_beyond_all_lists_is_told_of_once():
    (said,) = ends_of_lists(10, 4, metrics="recall@20,ndcg@20,mrr@10")
    assert said.endswith("has more than 10 items, fewer than the cut-off of recall@20, ndcg@20")
    assert ends_of_lists(10, 20, metrics="recall@20,ndcg@20") == []
    assert ends_of_lists(4, 3, metrics=None) == []


PLACES = {"d": 2, "b": 1, "a": None, "c": 4}


USERS = pl.DataFrame({"user_id": ["a", "b", "c", "d", "e"], "group": ["x", "x", "y", "y", "y"]})


def inputs_of(predictions=None, **options):
    given = {"users": USERS, "by": "group", "metrics": "mrr@3,auc", **options}
    return read_inputs(one_each(PLACES) if predictions is None else predictions, **given)


def test_values_stand_in_the_order_of_users_whatever_that_of_their_lists():
    measured = measure_everyone(*inputs_of())
    assert [metric.name for metric in measured.metrics] == ["mrr@3", "auc"]
    # a has nothing relevant, c at place 4, d at place 2 of 4; e has no list
    expected = [[np.nan, 1, 0, 1 / 2], [np.nan, 1, 0, 2 / 3]]
    np.testing.assert_allclose(measured.values, expected)
    assert measured.is_complete
    assert measured.is_reference.all()
    inputs, metrics = inputs_of()
    per_list = values_per_list(metrics, inputs.candidates, inputs.side)
    np.testing.assert_allclose(per_list[0], [1 / 2, 1, np.nan, 0])


MEASURED = make_tables(8, text_ids=False)


NO_CATEGORIES = MEASURED.items.with_columns(item_id=pl.col("item_id") + 100)


@pytest.mark.parametrize(
    ("metric", "label", "says"),
    [
        ("auc", 0, "no candidate has a label above 0"),
        ("auc", 1, "no user has both a relevant and another candidate"),
        ("urd", 1, "no user has two candidates with categories in the items table"),
        ("share[categories=c1]", 1, "no list has an item of which it is known"),
        ("miscalibration", 1, "no user has categories both in the history and in the list"),
    ],
)
def test_a_metric_undefined_for_everyone_is_refused_with_the_reason(metric, label, says):
    inputs, metrics = read_inputs(
        MEASURED.predictions.with_columns(label=pl.lit(label)),
        users=MEASURED.users,
        by="gender",
        metrics=["hit@1", metric] if label else metric,
        items=NO_CATEGORIES,
        history=MEASURED.history,
        against_lists=MEASURED.predictions.group_by("user_id").first(),
    )
    measured = measure_everyone(inputs, metrics)
    with pytest.raises(InputError, match=rf"is undefined for every user: {says}"):
        refuse_undefined(measured, inputs.candidates)


def test_terms_of_a_ratio_say_of_a_group_what_the_ratio_of_its_sums_says():
    received, due = np.array([[3.0, 1.0, 0.0, 2.0, 0.0]]), np.array([[2.0, 1.0, 4.0, 0.0, 0.0]])
    is_defined = np.array([[True] * 4 + [False]])
    ratio = Ratio.of(received, due, is_defined)
    # the fourth received something that it was not due; of the fifth there is nothing to say
    assert np.isnan(ratio.terms[0]).tolist() == [False] * 4 + [True]
    # or it counts, and adds nothing
    counted = Ratio.of(received, due, np.ones((1, 5), dtype=bool))
    assert counted.terms[0, 4] == pytest.approx(6 / 7) == counted.terms.mean()
    assert np.nanmean(ratio.terms) == pytest.approx(6 / 7)
    group = [0, 3]
    beyond = (ratio.terms[0, group] - 6 / 7).sum() / ratio.below[0, group].sum()
    assert 6 / 7 + beyond == pytest.approx((3 + 2) / 2)
    values = np.divide(received, due, out=np.full((1, 5), np.nan), where=due > 0)
    everyone = np.ones(5, dtype=bool)
    measured = Measured((parse_metric("auc"),), values, everyone, everyone, ratio=ratio)
    assert measured.n_undefined(0) == 1
    assert not measured.is_mean(0)


def column(name: str, **better: bool):
    return metric_of_column(name, better, "v.csv")


@pytest.mark.parametrize(
    ("name", "better", "higher_is_better", "bounds"),
    [
        ("watch", {}, None, None),
        ("watch", {"watch": False}, False, None),
        ("watch", {"churn": False}, None, None),
        ("ndcg@10", {}, True, (0, 1)),
        ("urp_abs@5", {}, False, (0, 100)),
        ("urp@5", {"urp@5": True}, True, (-100, 100)),
        # an audit writes a cut-off, and `AUC` in small letters
        ("ndcg", {}, None, None),
        ("AUC", {}, None, None),
        ("auc", {}, True, (0, 1)),
        ("auc@5", {}, None, None),
    ],
)
def test_a_name_that_an_audit_writes_brings_its_direction_and_bounds(
    name, better, higher_is_better, bounds
):
    found = column(name, **better)
    assert (found.name, found.k) == (name, None)
    assert found.metric.higher_is_better is higher_is_better
    assert found.metric.bounds == bounds
    assert found.metric.needs == frozenset()


N_USERS = 48


NDCG = [parse_metric("ndcg@5")]


COVARIATES = make_tables(N_USERS, text_ids=False)


def read_covariates(given="", **changes):
    tables = {
        "predictions": COVARIATES.predictions,
        "users": COVARIATES.users,
        "history": COVARIATES.history,
        "by": "gender",
        "metrics": "ndcg@5",
        "adjust_for": given,
        **changes,
    }
    return read_inputs(**tables)[0]


def by_user(inputs) -> list[dict]:
    """The value of each user for each covariate, users in the order of their ids."""
    return [
        {one.name: one.values[one.codes[user]] for one in inputs.covariates}
        for user in range(inputs.n_users)
    ]


def test_lengths_and_relevant_items_are_counted_user_by_user():
    lists = COVARIATES.predictions.group_by("user_id").agg(pl.len(), pl.col("label").sum())
    found = by_user(read_covariates("list_length,n_relevant,history_length"))
    expected = {
        user: {"list_length": n, "n_relevant": n_relevant, "history_length": 3}
        for user, n, n_relevant in lists.rows()
    }
    assert found == [expected[user] for user in sorted(expected)]


def test_held_out_items_are_the_relevant_ones_recommended_or_not():
    test = COVARIATES.history.filter(pl.col("user_id") <= 20).unique()
    inputs = read_covariates("n_relevant", test=test, history=None)
    n_held_out = dict(test.group_by("user_id").len().rows())
    found = [one["n_relevant"] for one in by_user(inputs)]
    assert found == [n_held_out.get(user, 0) for user in range(1, N_USERS + 1)]


def test_a_column_of_users_is_one_and_unknown_is_a_value_of_its_own():
    inputs = read_covariates("age:20,member")
    ages = COVARIATES.users["age"].to_list()
    for who, found in enumerate(by_user(inputs)):
        age = ages[who]
        low = None if age is None else age // 20 * 20
        assert found["age"] == (MISSING if low is None else f"{low}-{low + 19}")
        assert found["member"] == COVARIATES.users["member"][who]
    (age, _) = inputs.covariates
    assert age.n_missing == COVARIATES.users["age"].null_count() > 0
    assert any("is missing for" in warning for warning in age.warnings)


def test_many_numbers_are_compared_in_fifths_and_that_is_said(tmp_path):
    (age,) = read_covariates("age").covariates
    assert age.binning == "5 quantiles"
    (note,) = [note for note in age.warnings if "fifths" in note]
    assert "different numbers" in note and "age:10" in note
    few = read_covariates("n_relevant").covariates[0]
    assert (few.binning, few.warnings) == (None, ())
    COVARIATES.users.write_csv(tmp_path / "users.csv")
    (from_text,) = read_covariates("age", users=tmp_path / "users.csv").covariates
    assert from_text.codes.tolist() == age.codes.tolist()


@pytest.mark.parametrize(
    ("given", "changes", "says"),
    [
        ("gender", {}, "'gender' is in by and in adjust_for"),
        ("age:q5", {"by": "age:10"}, "'age' is in by and in adjust_for"),
        ("age,age:10", {}, "'age' is named twice in adjust_for"),
        ("lenght", {}, "o covariate 'lenght'"),
        ("list_lenght:q5", {}, "Did you mean 'list_length'"),
        ("history_length", {"history": None}, "needs the history table"),
        ("list_length:0", {}, "is no binning"),
        (
            "list_length",
            {
                "predictions": None,
                "history": None,
                "metrics": None,
                "values": COVARIATES.users,
            },
            "needs lists",
        ),
        (
            "n_relevant",
            {"predictions": COVARIATES.predictions.drop("label"), "metrics": "urp@5"},
            "needs a label column",
        ),
    ],
)
def test_what_cannot_be_given_is_refused(given, changes, says):
    with pytest.raises(InputError) as caught:
        read_covariates(given, **changes)
    assert says in str(caught.value)


def test_what_is_audited_is_no_covariate_of_itself():
    values = COVARIATES.users.select("user_id", "gender", seen=pl.col("user_id") * 1.0)
    for given in ("seen", "seen:q2"):
        with pytest.raises(InputError, match=r"^'seen' is audited and in adjust_for"):
            read_inputs(values=values, by="gender", metrics="seen", adjust_for=given)


def test_all_that_can_be_counted_is_looked_at_unless_it_is_given():
    names = [one.name for one in counted_covariates(read_covariates("list_length:3"), NDCG)]
    assert names == ["n_relevant", "history_length"]
    without = read_covariates(
        history=None,
        predictions=COVARIATES.predictions.drop("label"),
        metrics="urd@5",
        items=COVARIATES.items,
    )
    (one,) = counted_covariates(without, NDCG)
    assert one.name == "list_length"
    assert (
        one.numbers.tolist() == np.diff(without.candidates.offsets)[without.list_of_user].tolist()
    )
    values = read_inputs(
        values=COVARIATES.users.drop("gender"),
        users=COVARIATES.users,
        by="gender",
    )[0]
    assert counted_covariates(values, NDCG) == ()
