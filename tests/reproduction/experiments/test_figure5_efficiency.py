from __future__ import annotations

import math

from fairrec.reproduction.experiments.figure5_efficiency import METHODS, plan, world


def test_a_world_has_the_users_and_values_asked_for():
    options = world(20_000, 50, 100)
    assert options.n_users == 20_000
    assert {name: len(values) for name, values in options.attributes.items()} == {
        "gender": 2,
        "age": 50,
        "country": 100,
    }
    assert math.prod(map(len, options.attributes.values())) == 10_000


def test_every_method_is_run_once_in_every_world(setting):
    trials = plan(setting)
    sizes = {(trial.labels["n_world"], trial.labels["groups"]) for trial in trials}
    assert sizes == {(users, groups) for users in (150, 300) for groups in (40, 96)}
    assert len(trials) == 4 * (1 + len(METHODS))
