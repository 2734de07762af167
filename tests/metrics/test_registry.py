"""Names of metrics, the decorator that adds one, and what is asked of what it returns."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import FairRecError, InputError, MetricError, UnknownNameError
from fairrec.metrics import METRICS, metric, parse_metric
from fairrec.metrics.registry import Need
from tests.metrics.metric_lists import per_user, ranked_lists, user

ROOT = Path(__file__).parents[2]


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


def test_the_metrics_are_those_of_the_documentation():
    at_k = {"mrr", "ndcg", "urd", "urp", "urp_abs", "hit", "recall", "precision", "map", "coverage"}
    at_k |= {"share", "mean", "novelty", "long_tail", "miscalibration"}
    at_k |= {"changed", "affected", "rbo"}
    assert {name for name in METRICS if METRICS[name].has_cutoff} == at_k
    assert set(METRICS) == at_k | {"auc", "pooled_auc", "tau"}


@pytest.mark.parametrize("name", list(METRICS))
def test_every_metric_says_what_it_is(name):
    found = METRICS[name]
    assert found.name == name
    assert found.definition.endswith(".")
    assert found.needs <= {*get_args(Need)}


def test_what_people_are_shown_has_no_better_end_and_urp_abs_is_better_when_low():
    neither = [name for name in METRICS if METRICS[name].higher_is_better is None]
    assert neither == ["urp", "share", "mean", "novelty", "long_tail"]
    assert [name for name in METRICS if METRICS[name].higher_is_better is False] == [
        *("miscalibration", "urp_abs", "changed", "affected")
    ]


def test_only_pooled_auc_is_pooled():
    assert [name for name in METRICS if METRICS[name].pooled] == ["pooled_auc"]


def test_a_metric_of_few_lines_is_audited_like_any_other():
    @metric("miss", higher_is_better=False)
    def miss_per_user(lists, k):
        """1 when none of the first k items is relevant."""
        return ~(lists.labels(k) > 0).any(axis=1)

    users = pl.DataFrame({"user_id": [1, 2], "gender": ["F", "M"]})
    predictions = pl.DataFrame(
        {
            "user_id": [1, 2],
            "item_id": [[1, 2]] * 2,
            "score": [[2, 1]] * 2,
            "label": [[1, 0], [0, 1]],
        }
    )
    result = fairrec.audit(
        predictions, users=users, by="gender", metrics="miss@1,miss@2", min_support=1
    )
    assert result.metric("miss@1").definition == "1 when none of the first k items is relevant."
    assert result.gap("miss@1").size == 1
    assert result.gap("miss@1").disadvantaged.group == {"gender": "M"}
    assert result.gap("miss@2").size == 0


def test_the_decorated_function_stays_a_plain_function():
    @metric("length")
    def length_per_user(lists):
        """Number of candidates."""
        return lists.lengths

    assert length_per_user(ranked_lists([user([0, 1, 0])])).tolist() == [3]


def test_a_metric_with_side_data_asks_for_its_table():
    @metric("repeats", higher_is_better=False, needs="history")
    def repeats_per_user(lists, k):
        """Nothing of interest."""
        return np.zeros(lists.n_users)

    with pytest.raises(InputError, match=r"'repeats@5' needs the history table\. Give history="):
        audited_values("repeats")


def test_a_metric_without_cutoff_may_look_at_the_first_places():
    @metric("top_label")
    def top_label_per_user(lists):
        """Label of the first item."""
        return lists.labels(1)[:, 0]

    assert audited_values("auc,top_label")["top_label"] == [1, 0, 1, 0]


def test_a_metric_may_look_deeper_than_its_cutoff():
    @metric("far")
    def far_per_user(lists, k):
        """Relevant items in the first 2k places that are not in the first k."""
        near, far = lists.labels(k) > 0, lists.labels(2 * k) > 0
        return far.sum(axis=1) - near.sum(axis=1)

    assert audited_values("far@2")["far@2"] == [1, 1, 0, 1]


def test_a_taken_name_is_refused():
    with pytest.raises(FairRecError, match="The metric 'ndcg' is registered already"):
        metric("ndcg")(lambda lists, k: np.zeros(lists.n_users))


def test_a_removed_name_is_free_again():
    metric("mine")(lambda lists: np.zeros(lists.n_users))
    METRICS.remove("mine")
    metric("mine")(lambda lists: np.ones(lists.n_users))
    assert per_user(parse_metric("mine"), ranked_lists([user([1, 0])])).tolist() == [1]


def test_removing_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'recall'"):
        METRICS.remove("recal")


@pytest.mark.parametrize("name", ["", "a@b", "a,b"])
def test_a_name_that_could_not_be_asked_for_is_refused(name):
    with pytest.raises(MetricError, match="cannot be called"):
        metric(name)


def test_an_unknown_need_is_refused():
    with pytest.raises(
        MetricError,
        match=r"needs='prices' is not known\. Known: labels, candidates, items, item_columns",
    ):
        metric("mine", needs="prices")


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        (0.5, r"returned shape \(\) for 4 users. Return one number per user"),
        (None, r"returned shape \(\) for 4 users"),
        ([1, 2, 3], r"returned shape \(3,\) for 4 users"),
        ([[1], [2], [3], [4]], r"returned shape \(4, 1\) for 4 users"),
        (["a", "b", "c", "d"], "returned <U1. Return numbers"),
        ([1, None, 2, 3], "returned object. Return numbers"),
        ([1, np.inf, 2, -np.inf], "is infinite for 2 users. Return NaN"),
        ([[1], [2, 3], [4], [5]], "Metric 'mine'"),
        ([1j, 2j, 3j, 4j], "Metric 'mine' returned complex"),
    ],
    ids=[
        "number",
        "nothing",
        "too few",
        "a table",
        "text",
        "objects",
        "infinity",
        "ragged",
        "complex",
    ],
)
def test_a_metric_must_return_one_number_per_user(returned, complaint):
    metric("mine")(lambda lists: returned)
    with pytest.raises(MetricError, match=complaint):
        audited_values("mine")


@pytest.mark.parametrize(
    "returned", [[True, False, True, True], [1, 0, 1, 1], np.float32([1, 0, 1, 1])]
)
def test_whole_numbers_and_truth_values_become_floats(returned):
    metric("mine")(lambda lists: returned)
    values = per_user(parse_metric("mine"), ranked_lists([user([1, 0])] * 4))
    assert values.dtype == np.float64
    assert values.tolist() == [1, 0, 1, 1]


def test_a_metric_that_is_the_same_for_everyone_is_audited_like_any_other():
    metric("mine")(lambda lists: np.full(lists.n_users, 0.5))
    assert audited_values("mine")["mine"] == [0.5, 0.5, 0.5, 0.5]


def test_a_metric_undefined_for_everyone_is_refused():
    metric("mine")(lambda lists: np.full(lists.n_users, np.nan))
    with pytest.raises(InputError, match="'mine' is undefined for every user"):
        audited_values("mine")


def test_undefined_users_are_null_in_the_table_and_left_out_of_the_means():
    @metric("mine")
    def mine_per_user(lists):
        """Number of relevant candidates; undefined where there is one."""
        return np.where(lists.n_relevant > 1, lists.n_relevant, np.nan)

    assert audited_values("mine")["mine"] == [2, 2, None, None]


@pytest.mark.parametrize("returned", [np.inf, [1.0, 2.0], "high"], ids=["infinity", "list", "text"])
def test_a_pooled_metric_must_return_a_number_or_nan(returned):
    metric("mine", pooled=True)(lambda scores, labels: returned)
    with pytest.raises(MetricError, match="Metric 'mine'"):
        audited_values("auc,mine")


SCRIPT = """
import fairrec
from tests.builders import audit, make_tables

@fairrec.metric("first")
def first(lists):
    '''Label of the first item.

    More of it.
    '''
    return lists.labels(1)[:, 0]

predictions, users, items, history = make_tables()
metrics = "ndcg@2,auc,urd,urp,novelty,first"
print(audit(predictions, users, "gender", items=items, history=history, metrics=metrics).to_json())
"""


@pytest.mark.slow
def test_results_have_the_same_bytes_without_docstrings(tmp_path: Path):
    (tmp_path / "own.py").write_text(SCRIPT)
    with_docs, without = (
        subprocess.run(
            [sys.executable, *options, str(tmp_path / "own.py")],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
            capture_output=True,
            timeout=120,
            check=True,
        ).stdout
        for options in ([], ["-OO"])
    )
    assert with_docs == without
    assert b"Label of the first item." in without
