from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec_paper.reproduction.subject import (
    WHOLE_CATALOGUE,
    PositionScorer,
    recommender_by_taste,
    with_candidates,
)


def test_predictions_are_the_candidates_of_either_target_with_scores(subject):
    recommender = subject.recommender
    test, validation = recommender.predictions(), recommender.predictions("validation")
    assert test.columns == ["user_id", "item_id", "label", "score"]
    assert test.height == recommender.candidates["item_id"].list.len().sum()
    assert not test.drop("score").equals(validation.drop("score"))
    assert test.group_by("user_id").agg(n="label")["n"].list.sum().unique().to_list() == [1]


def test_a_scorer_by_position_gives_the_scores_of_the_lists_asked_for(subject):
    inputs = subject.inputs
    scorer = PositionScorer(subject.recommender, inputs)
    offsets, scores = inputs.candidates.offsets, subject.scored.candidates.scores
    expected = np.concatenate([scores[offsets[at] : offsets[at + 1]] for at in (5, 2)])
    np.testing.assert_array_equal(scorer.ask(np.array([5, 2])), expected)
    # those of the table, user by user
    table = subject.recommender.predictions()
    user = inputs.user_ids[int(np.flatnonzero(inputs.list_of_user == 5)[0])]
    own = table.filter(table["user_id"] == user)["score"].to_numpy()
    assert sorted(own) == sorted(scores[offsets[5] : offsets[6]])


@pytest.mark.parametrize("n", [7, WHOLE_CATALOGUE])
def test_targets_can_stand_among_more_or_fewer_candidates(source, n):
    bundle = source.bundle
    before = recommender_by_taste(bundle, 0)
    after = with_candidates(before, bundle, n, 0)
    known = {
        user: {*items}
        for user, items in bundle.interactions.group_by("user_id").agg("item_id").iter_rows()
    }

    def targets(one) -> dict:
        rows = one.candidates.explode("item_id", "label").filter(pl.col("label") == 1)
        return dict(rows.select("user_id", pl.col("item_id").cast(pl.String)).iter_rows())

    assert targets(after) == targets(before)
    for user, items, labels in after.candidates.iter_rows():
        n_all = bundle.items.height - len(known[user]) + 1
        assert len(items) == len({*items}) == (n_all if n == WHOLE_CATALOGUE else n)
        assert len({*items} & known[user]) == sum(labels) == 1
