from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.counts.levels import MOST_TOGETHER, exact_label, families_of, levels_of, values_of
from fairrec.metrics.measured import Measured
from fairrec.metrics.parsing import parse_metric
from fairrec.metrics.value_columns import metric_of_column


def measured(values, names=("auc", "ndcg@5")):
    metrics = tuple(
        parse_metric(name) if name != "revenue" else metric_of_column(name, {}, "values")
        for name in names
    )
    values = np.array(values, dtype=np.float64)
    everyone = np.ones(values.shape[1], dtype=bool)
    return Measured(metrics, values, everyone, everyone)


def families(given):
    return families_of(given, levels_of(given.metrics, {}))


def test_metrics_of_labels_with_few_values_in_all_are_counted_together():
    (family,) = families(measured([[0.5, 1, 0.5, np.nan], [0.25, 1, 0.25, np.nan]]))
    assert family.metrics == (0, 1)
    assert not family.is_cut
    labels = family.labels.gather(family.level).to_list()
    assert labels == ["0.5|0.25", "1.0|1.0", "0.5|0.25", None]


def test_one_metric_may_be_undefined_where_another_is_not():
    (family,) = families(measured([[0.5, 0.5], [0.25, np.nan]]))
    assert family.labels.gather(family.level).to_list() == ["0.5|0.25", "0.5|"]


def test_too_many_values_are_cut_each_metric_by_itself():
    many = np.linspace(0, 1, MOST_TOGETHER + 1)
    first, second = families(measured([many, many]))
    assert (first.metrics, second.metrics) == ((0,), (1,))
    assert first.is_cut
    assert first.labels.gather(first.level)[-1] == "144"
    # few values each, and too many together
    pairs = np.array([[i, j] for i in range(20) for j in range(20)]).T / 20
    assert [family.metrics for family in families(measured(pairs))] == [(0,), (1,)]


def test_no_value_is_a_level_of_its_own():
    (family,) = families(measured([[0.5, np.nan]], ["auc"]))
    assert family.labels.gather(family.level).to_list() == ["72", None]


def test_without_bounds_few_values_are_taken_as_they_are_and_many_refused():
    (family,) = families(measured([[3.5, -1.0, 3.5]], ["revenue"]))
    assert family.labels.gather(family.level).to_list() == ["3.5", "-1.0", "3.5"]
    with pytest.raises(InputError, match="levels"):
        families(measured([np.arange(MOST_TOGETHER + 1)], ["revenue"]))


def test_labels_tell_the_values_to_the_last_digit():
    rng = np.random.default_rng(0)
    rows = rng.random((50, 2))
    rows[3] = np.nan, 0.1
    labels = pl.Series([exact_label(row) for row in rows])
    for at in (0, 1):
        assert np.array_equal(values_of(labels, at), rows[:, at], equal_nan=True)
    assert exact_label(np.array([np.nan, np.nan])) is None
