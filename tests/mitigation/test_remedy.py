"""Whose lists get new scores, and whom a re-ranker learns from."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics.reading import read_inputs
from fairrec.mitigation.fitted_reranker import Remedy, Rescored
from fairrec.mitigation.result import RerankerRecord
from tests.metrics.metric_lists import World, user
from tests.mitigation.rerank_world import RerankWorld

WOMEN, MEN = {"gender": "F"}, {"gender": "M"}
IDS = [1, 2, 3]
MODEL = [0.2, 0.1] * 3


def inputs_of(history: list[tuple[int, int]]) -> AuditInputs:
    """Two women and a man with items 0 and 1 each, and a woman, 4, who has no list."""
    lists = [(one, item, score) for one in IDS for item, score in ((0, 0.2), (1, 0.1))]
    inputs, _ = read_inputs(
        pl.DataFrame(lists, schema=["user_id", "item_id", "score"], orient="row"),
        users=pl.DataFrame({"user_id": [*IDS, 4], "gender": ["F", "M", "F", "F"]}),
        by="gender",
        history=pl.DataFrame(history, schema=["user_id", "item_id"], orient="row"),
        metrics="urp@1",
    )
    return inputs


def record(*groups, reranker="group_prior") -> RerankerRecord:
    return RerankerRecord(
        fairrec_version="0",
        reranker=reranker,
        strength=0.0,
        metric="urp@1",
        k=2,
        by=("gender",),
        groups=groups,
    )


# women had item 1, the man and somebody unknown item 0: equally popular, so the group decides
OWN = [(1, 1), (3, 1), (2, 0), (9, 0)]


def test_only_lists_of_the_groups_are_re_ranked():
    inputs = inputs_of(OWN)
    for groups, expected in (
        ((WOMEN,), [0.1, 0.2, 0.2, 0.1, 0.1, 0.2]),
        ((MEN,), MODEL),
        ((WOMEN, MEN), [0.1, 0.2, 0.2, 0.1, 0.1, 0.2]),
    ):
        rescored = Remedy(record(*groups), inputs).scores_of(inputs)
        assert rescored.at(1.0).tolist() == expected
        assert rescored.at(0).tolist() == MODEL


def test_users_can_be_given_by_hand():
    inputs = inputs_of(OWN)
    remedy = Remedy(record(WOMEN), inputs)
    only_last = remedy.scores_of(inputs, np.array([-1, -1, 0])).at(1.0)
    assert only_last.tolist() == [0.2, 0.1, 0.2, 0.1, 0.1, 0.2]


def test_users_without_a_list_are_learned_from_too():
    # no woman with a list had anything; the one without had item 1
    inputs = inputs_of([(4, 1), (2, 0)])
    assert Remedy(record(WOMEN), inputs).scores_of(inputs).at(1.0).tolist() == [
        *(0.1, 0.2, 0.2, 0.1, 0.1, 0.2),
    ]


def test_what_a_re_ranker_needs_is_asked_for():
    inputs = inputs_of(OWN)
    for name, need in (("mmr", "items"), ("oracle", "labels")):
        with pytest.raises(InputError, match=f"'{name}' needs .*{need}"):
            Remedy(record(WOMEN, reranker=name), inputs)


def test_rows_of_a_part_take_its_order_and_the_others_keep_the_models_scores():
    lists = RerankWorld(World([user([0, 0, 0], [3, 2, 1])], {0: frozenset("a")}, [(0, 0)])).lists
    model = np.array([9.0, 8.0, 3.0, 2.0, 1.0])
    turned = Rescored(model, (np.array([2, 3, 4]), lists, lambda strength: np.array([2, 1, 0])))
    assert turned.at(0.5).tolist() == [9, 8, 1, 2, 3]
    assert model.tolist() == [9, 8, 3, 2, 1]
    assert turned.at(0) is model
