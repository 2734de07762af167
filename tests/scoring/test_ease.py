from __future__ import annotations

import numpy as np
import pytest

from fairrec.scoring.ease import Ease


def test_weights_solve_the_penalised_regression_of_each_item_on_the_others():
    rng = np.random.default_rng(0)
    x = (rng.random((60, 6)) < 0.4).astype(float)
    users, items = np.nonzero(x)
    model = Ease.fit(users, items, 60, 6, penalty=5.0)
    for item in range(6):
        others = [i for i in range(6) if i != item]
        gram = x[:, others].T @ x[:, others] + 5.0 * np.eye(5)
        expected = np.linalg.solve(gram, x[:, others].T @ x[:, item])
        assert model.weights[others, item] == pytest.approx(expected, abs=1e-9)
        assert model.weights[item, item] == 0


def test_a_checkerboard_is_completed():
    # even users took even items, odd users odd ones; each misses one
    users, items = np.nonzero((np.add.outer(np.arange(40), np.arange(20)) % 2) == 0)
    missing = (users * 2 + users % 2) % 20 == items
    model = Ease.fit(users[~missing], items[~missing], 40, 20, penalty=1.0)
    user = np.arange(40)
    right = model.score(user, (user * 2 + user % 2) % 20)
    wrong = model.score(user, (user * 2 + 1 - user % 2) % 20)
    assert (right > wrong + 0.5).all()
