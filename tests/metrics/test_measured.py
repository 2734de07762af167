from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.metrics import parse_metric
from fairrec.metrics.measured import (
    Measured,
    Ratio,
    measure_everyone,
    refuse_undefined,
    values_per_list,
)
from fairrec.metrics.reading import read_inputs
from tests.builders import LISTS, as_lists, make_tables, one_each

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


def test_with_someone_not_scored_it_is_not_complete():
    is_scored = np.array([True, False])
    measured = Measured((parse_metric("auc"),), np.array([[1.0, np.nan]]), is_scored, is_scored)
    assert not measured.is_complete


TABLES = make_tables(8, text_ids=False)
NO_CATEGORIES = TABLES.items.with_columns(item_id=pl.col("item_id") + 100)


@pytest.mark.parametrize(
    ("metric", "label", "says"),
    [
        ("auc", 0, "no candidate has a label above 0"),
        ("auc", 1, "no user has both a relevant and another candidate"),
        ("urd", 1, "no user has two candidates with categories in the items table"),
        ("share[categories=c1]", 1, "no list has an item of which it is known"),
        ("miscalibration", 1, "no user has categories both in the history and in the list"),
        ("tau", 1, "no user has another list with enough in common to compare"),
    ],
)
def test_a_metric_undefined_for_everyone_is_refused_with_the_reason(metric, label, says):
    inputs, metrics = read_inputs(
        TABLES.predictions.with_columns(label=pl.lit(label)),
        users=TABLES.users,
        by="gender",
        metrics=["hit@1", metric] if label else metric,
        items=NO_CATEGORIES,
        history=TABLES.history,
        against_lists=TABLES.predictions.group_by("user_id").first(),
    )
    measured = measure_everyone(inputs, metrics)
    with pytest.raises(InputError, match=rf"is undefined for every user: {says}"):
        refuse_undefined(measured, inputs.candidates)


def test_popularity_is_undefined_where_only_empty_lists_have_a_history():
    lists = as_lists(one_each({"a": 1, "b": 2}))
    of_a = pl.col("user_id") == "a"
    emptied = lists.with_columns(
        pl.when(of_a).then(pl.col(name).list.head(0)).otherwise(name).alias(name) for name in LISTS
    )
    history = pl.DataFrame({"user_id": ["a"], "item_id": [1]})
    inputs, metrics = inputs_of(emptied, metrics="urp@3", history=history)
    with pytest.raises(InputError, match="no user has candidates and a history"):
        refuse_undefined(measure_everyone(inputs, metrics), inputs.candidates)


def test_a_metric_defined_for_someone_is_not_refused():
    inputs, metrics = inputs_of()
    refuse_undefined(measure_everyone(inputs, metrics), inputs.candidates)


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
