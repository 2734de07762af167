"""Which targets are chosen by, and which are held out to report on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.table_options import TableOptions
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.splitting import metric_names, n_shared_targets, read_split
from tests.mitigation.planted import planted

WORLD = planted("accuracy", n_users=60)
TABLES = TableOptions(users=WORLD.users, by="gender", metrics=["ndcg@5"])


def test_without_validation_targets_each_user_is_in_one_half():
    split = read_split(WORLD.predictions, None, TABLES, seed=0)
    assert split.protocol == "halves of the users"
    halves = [set(part.user_ids) for part in (split.choosing, split.reported)]
    assert [len(half) for half in halves] == [30, 30]
    assert halves[0] | halves[1] == set(split.everyone.user_ids)
    other = read_split(WORLD.predictions, None, TABLES, seed=1)
    assert set(other.choosing.user_ids) != halves[0]
    assert n_shared_targets(split.choosing, split.reported) == 0


def test_who_has_no_list_is_missing_in_one_half():
    lists = WORLD.predictions.filter(pl.col("user_id") >= 10)
    split = read_split(lists, None, TABLES, seed=0)
    halves = [part.absent.tolist() for part in (split.choosing, split.reported)]
    assert [len(half) for half in halves] == [5, 5]
    assert sorted(halves[0] + halves[1]) == split.everyone.absent.tolist() == [*range(10)]


def test_targets_that_are_in_both_are_counted():
    split = read_split(WORLD.predictions, WORLD.validation, TABLES, seed=0)
    assert split.protocol == "validation targets"
    assert n_shared_targets(split.choosing, split.reported) == 0
    again = read_split(WORLD.predictions, WORLD.predictions, TABLES, seed=0)
    assert n_shared_targets(again.choosing, again.reported) == 60
    assert np.array_equal(again.choosing.candidates.scores, again.reported.candidates.scores)


@pytest.mark.parametrize(
    ("metrics", "items", "has_labels", "names"),
    [
        (None, None, True, ["urd@3", "auc", "mrr@3", "ndcg@3"]),
        (None, "items", False, ["urd@3", "urd@3"]),
        ("hit@5,auc", None, True, ["hit@5", "auc", "urd@3", "ndcg@3"]),
    ],
)
def test_the_target_and_its_cost_are_always_measured(metrics, items, has_labels, names):
    plan = MitigationOptions("urd@3")
    tables = replace(TABLES, metrics=metrics, items=items)
    bare = WORLD.predictions.drop("label")
    predictions = WORLD.predictions if has_labels else bare
    assert metric_names(plan, tables, predictions, None) == names
    assert metric_names(plan, tables, predictions, WORLD.validation) == names
    if has_labels and metrics is None:
        # labels have to be in both
        assert metric_names(plan, tables, predictions, bare) == ["urd@3"]


def test_held_out_items_are_relevant_without_labels_and_give_no_auc():
    plan = MitigationOptions("urd@3")
    bare = WORLD.predictions.drop("label")
    tables = replace(TABLES, metrics=None, test=WORLD.history)
    assert metric_names(plan, tables, bare, None) == ["urd@3", "mrr@3", "ndcg@3"]
    compared = replace(TABLES, metrics=None, relevant="score>=1")
    assert metric_names(plan, compared, bare, None) == ["urd@3", "auc", "mrr@3", "ndcg@3"]


def test_validation_targets_and_held_out_interactions_exclude_each_other():
    with pytest.raises(InputError, match="validation holds candidates with labels, and test what"):
        read_split(WORLD.predictions, WORLD.validation, replace(TABLES, test=WORLD.history), 0)
