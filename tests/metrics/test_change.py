"""What another list of the same users changes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pytest import approx

from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side_data import SideData
from fairrec.metrics import parse_metric
from fairrec.metrics.value_columns import (
    changes_per_list,
    is_of_both,
    metric_of_change,
    over_other_values,
)


def lists_with(scores: list[float]) -> CandidateLists:
    return CandidateLists(
        np.array([0, 3, 5]),
        np.array([0, 1, 2, 0, 1], dtype=np.int32),
        np.array(scores, dtype=np.float64),
        np.array([1.0, 0, 0, 0, 0]),
        pl.Series([7, 8, 9]),
    )


def test_metrics_of_two_lists_are_taken_and_others_subtracted():
    metrics = [parse_metric(name) for name in ("mrr@3", "changed@1", "affected@3")]
    before, after = lists_with([1, 2, 3, 2, 1]), lists_with([3, 2, 1, 2, 1])
    found = changes_per_list(metrics, before, after, SideData())
    # the relevant item moves from the third to the first place; the second user has none
    assert found[0].tolist() == pytest.approx([1 - 1 / 3, np.nan], nan_ok=True)
    assert found[1:].tolist() == [[1, 0], [1, 0]]


def test_better_off_once_changed_is_worse_off_as_it_is():
    ndcg, urp, rbo = (metric_of_change(parse_metric(one)) for one in ("ndcg@5", "urp@5", "rbo@5"))
    assert (ndcg.name, ndcg.metric.higher_is_better) == ("ndcg@5_change", False)
    assert (urp.name, urp.metric.higher_is_better) == ("urp@5_change", None)
    assert urp.metric.bounds == (-200, 200)
    assert (rbo.name, rbo.metric.higher_is_better) == ("rbo@5", True)
    assert not is_of_both(ndcg)


def test_over_other_values_it_is_the_mean_and_who_is_affected_by_any():
    metrics = [parse_metric("changed@5"), parse_metric("affected@5")]
    nan = np.nan
    under = {
        0: np.array([[nan, 0.2, 0.4, nan], [nan, 0.0, 1.0, nan]]),
        1: np.array([[0.6, nan, 0.0, nan], [1.0, nan, 0.0, nan]]),
    }
    found = over_other_values(metrics, under)
    assert found[0].tolist() == approx([0.6, 0.2, 0.2, nan], nan_ok=True)
    assert found[1].tolist() == approx([1.0, 0.0, 1.0, nan], nan_ok=True)
