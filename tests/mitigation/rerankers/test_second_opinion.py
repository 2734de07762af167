"""A second recommender."""

from __future__ import annotations

import numpy as np

from fairrec.mitigation.item_knn import ItemKnn
from fairrec.mitigation.rerankers import blends as second_opinion_module
from fairrec.mitigation.rerankers.blends import SecondOpinion
from fairrec.scoring.ease import Ease
from tests.metrics.metric_lists import random_world
from tests.mitigation.rerank_world import RerankWorld
from tests.mitigation.rerankers.slow_rerankers import dense_interactions


def test_second_opinion_turns_to_neighbours_for_a_large_catalogue(monkeypatch):
    world = RerankWorld(random_world(np.random.default_rng(0)))
    assert isinstance(SecondOpinion(world.training)._opinion, Ease)
    monkeypatch.setattr(second_opinion_module, "LARGEST_EASE", 5)
    assert isinstance(SecondOpinion(world.training)._opinion, ItemKnn)
    # it ranks by what they say: at full strength the keys are the scores of the neighbours
    order = world.order("second_opinion", 1.0)
    model = ItemKnn.fit(*np.nonzero(dense_interactions(world)), *dense_interactions(world).shape)
    n_compared = 0
    for one in np.flatnonzero(world.lists.user >= 0):
        rows = world.part(order, one)
        at = world.lists.history_item[world.lists.items[rows]]
        said = model.score(np.full(len(rows), world.lists.user[one]), np.maximum(at, 0))
        said[at < 0] = 0.0
        assert (np.diff(said) <= 1e-12).all()
        n_compared += len(rows) > 1 and said[0] > said[-1]
    assert n_compared > 10
