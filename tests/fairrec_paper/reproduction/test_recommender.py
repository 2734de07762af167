from __future__ import annotations

import numpy as np

from fairrec_paper.reproduction.subject import PositionScorer


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
