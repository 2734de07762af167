"""Worlds without a gap give false findings at most as often as promised; planted gaps show.

Hundreds of worlds go through the statistics alone. That an audit of their tables comes to the
same p-values and the same findings is shown for a few of them, to the last digit.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pytest import approx
from scipy.stats import binom

import fairrec
from fairrec.metrics import METRICS
from fairrec.statistics.findings import select_findings
from fairrec.statistics.permutation import extreme_gaps, gap_p_value
from tests.statistics.small_population import Population, permutation_test, population
from tests.worlds import ATTRIBUTES, over_worlds, random_users, random_world

ALPHA = 0.05
PERMUTATIONS = 99
MIN_USERS = 4
METRICS_OF_NULL = ("auc", "mrr@5", "hit@5")
PLANTED = [{"age": "65+"}, {"gender": "F", "age": "65+"}, {"gender": "F", "job": "job1"}]


def audit(users, predictions, metrics, seed):
    return fairrec.audit(
        predictions,
        users=users,
        by=list(ATTRIBUTES),
        metrics=metrics,
        permutations=PERMUTATIONS,
        min_support=MIN_USERS,
        alpha=ALPHA,
        seed=seed,
        threads=1,
    )


def population_of(users: pl.DataFrame, values, bounds=(0, 1)) -> Population:
    codes = [users[name].rank("dense").to_numpy() - 1 for name in ATTRIBUTES]
    return population(codes, values, min_users=MIN_USERS, bounds=bounds)


def chance_in(world: Population, seed: int):
    """The test against chance, (n_metrics, n_groups) adjusted p-values, (n_metrics,) of gaps."""
    test = permutation_test(
        *(world.moments, world.grouping, world.is_tested, PERMUTATIONS, seed),
        higher_is_better=[True] * len(world.values),
    )
    spans = extreme_gaps(
        world.moments.total,
        world.is_tested & world.lattice.is_full,
        np.sqrt(world.moments.weights.null_variance),
    )
    adjusted = np.where(world.is_tested, test.adjusted_p_values, 1.0)
    p_values = [
        gap_p_value(by_chance, span) for by_chance, span in zip(test.spans.T, spans, strict=True)
    ]
    return test, adjusted, np.array(p_values)


def without_a_gap(seed: int, n_users: int, share_undefined: float = 0.0):
    """Users, predictions, and the values of metrics with 20, 6 and 2 levels that follow from them.

    Small groups and skewed sizes; some users have no relevant candidate.
    """
    users, predictions = random_world(n_users, seed=seed)
    is_defined = np.random.default_rng(seed).random(n_users) >= share_undefined
    labels = predictions["label"].to_numpy() * is_defined[:, None]
    scores = predictions["score"].to_numpy()
    place = (scores > scores[:, :1]).sum(axis=1) + 1
    n_candidates = scores.shape[1]
    auc = (n_candidates - place) / (n_candidates - 1)
    values = np.stack([auc, (place <= 5) / place, place <= 5])
    values[:, ~is_defined] = np.nan
    return users, predictions.with_columns(label=labels), values


@over_worlds(250)
@pytest.mark.parametrize(("n_users", "share_undefined"), [(400, 0.0), (300, 0.3)])
def test_worlds_without_a_gap_have_findings_no_more_often_than_alpha(
    n_users, share_undefined, n_worlds
):
    with_finding, with_gap = 0, np.zeros(3, dtype=int)
    for seed in range(n_worlds):
        users, _, values = without_a_gap(seed, n_users, share_undefined)
        _, adjusted, p_of_gaps = chance_in(population_of(users, values), seed)
        with_finding += adjusted.min() <= ALPHA
        with_gap += p_of_gaps <= ALPHA
    # 19 of 250: more come up in 3 cases of 100 where the rate is alpha, but in 88 of 100 where it
    # is twice that and in 999 of 1,000 where it is three times that
    tolerated = binom.ppf(0.97, n_worlds, ALPHA)
    assert with_finding <= tolerated
    assert with_gap.max() <= tolerated


@pytest.mark.parametrize(("n_users", "share_undefined"), [(400, 0.0), (300, 0.3)])
def test_an_audit_of_a_world_without_a_gap_comes_to_its_p_values(n_users, share_undefined):
    for seed in range(5):
        users, predictions, values = without_a_gap(seed, n_users, share_undefined)
        result = audit(users, predictions, list(METRICS_OF_NULL), seed)
        world = population_of(users, values)
        _, adjusted, p_of_gaps = chance_in(world, seed)
        for i, name in enumerate(METRICS_OF_NULL):
            found = result.metric(name)
            mine = result.groups(name)["p_adjusted"]
            assert sorted(mine) == approx(sorted(adjusted[i, world.is_tested[i]]), rel=1e-12)
            assert found.chance.p_value == approx(p_of_gaps[i], rel=1e-12)
            assert bool(found.findings) == (adjusted[i].min() <= ALPHA)


def with_a_gap(planted: dict[str, str], seed: int, n_users: int):
    """Users, and values of few levels that are six standard errors worse for the planted group."""
    rng = np.random.default_rng(seed)
    users = random_users(n_users, rng)
    inside = np.ones(n_users, dtype=bool)
    for name, value in planted.items():
        inside &= (users[name] == value).to_numpy()
    values = rng.choice([0, 0, 0, 0, 0.2, 0.25, 1 / 3, 0.5, 1], n_users)
    n = inside.sum()
    error = values.std() * np.sqrt(n_users / (n * (n_users - n)))
    return users, values - 6 * error * inside


def findings_of(users: pl.DataFrame, values, seed: int) -> list[dict[str, str]]:
    world = population_of(users, values, bounds=None)
    test, adjusted, _ = chance_in(world, seed)
    assert world.is_tested.sum() > 250
    chosen, _ = select_findings(
        *(0, adjusted[0] <= ALPHA, test.critical(ALPHA)[:, 0], True),
        *(world.moments, world.grouping),
    )
    levels = {name: sorted(users[name].unique()) for name in ATTRIBUTES}
    return [
        {
            name: levels[name][code]
            for name, code in zip(ATTRIBUTES, world.lattice.codes[one.position], strict=True)
            if code >= 0
        }
        for one in chosen
    ]


@over_worlds(100)
@pytest.mark.parametrize("planted", PLANTED)
def test_a_gap_of_six_standard_errors_is_found(planted, n_worlds):
    found = named = 0
    for seed in range(n_worlds):
        groups = findings_of(*with_a_gap(planted, seed, 3000), seed)
        found += bool(groups)
        named += planted in groups
    assert found / n_worlds >= 0.95
    assert named / n_worlds >= 0.90


@pytest.mark.parametrize("planted", PLANTED)
def test_an_audit_of_a_world_with_a_gap_has_its_findings(planted):
    @fairrec.metric("planted", higher_is_better=True)
    def first_score(lists):
        """The score of the first candidate in the input."""
        return lists.candidates.scores[lists.candidates.offsets[:-1]]

    n_users = 3000
    try:
        for seed in range(3):
            users, values = with_a_gap(planted, seed, n_users)
            predictions = {
                "user_id": users["user_id"],
                "item_id": [[1]] * n_users,
                "score": values[:, None],
                "label": [[1]] * n_users,
            }
            result = audit(users, pl.DataFrame(predictions), ["planted"], seed)
            groups = [finding.group for finding in result.metric("planted").findings]
            expected = findings_of(users, values, seed)
            assert planted in expected
            assert {frozenset(group.items()) for group in groups} == {
                frozenset(group.items()) for group in expected
            }
    finally:
        METRICS.remove("planted")
