"""The claims about many worlds, of the benchmark `statistics`, on a few worlds of the fast ones.

That the worlds go through the stages as an audit of their tables would is shown for some of them,
to the last digit."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from benchmarks.statistics import covariates, intervals, level, power, spread
from benchmarks.statistics.said import named_groups
from benchmarks.statistics.studies import STUDIES
from benchmarks.statistics.world import PERMUTATIONS, World, audited
from pytest import approx
from scipy.stats import binom

import fairrec
from fairrec.statistics.permutation import extreme_gaps, gap_p_value
from tests.statistics.small_worlds import Population, permutation_test, population
from tests.worlds import ATTRIBUTES, over_worlds, random_world

FAST = {
    "a group of 100 of 1,000 that is less active, values grow with activity",
    "a group of 30 of 1,000, twice the spread",
    "a group of 30 of 1,000, 3 times the spread, groups from 2 users",
    "AUC, 1 positive of 60 in a group, 30 elsewhere",
    "hit rate 2%",
    "hit rate 5%, a group of 100 of 10,000",
    "hit rate 20%, about 194 of 3,000 users lose 75%",
    "either of two attributes is worse, both or none is not",
    "AUC, 30 positives of 60 and lower scores in a group, 1 elsewhere",
    "exchangeable, normal",
    "exchangeable, hit rate 5%",
    "exchangeable, few levels",
    "a lone shift of 4.2 standard errors, 1,000 of 10,000",
    "rates of 99%, ten groups of 40 with 93%, strata given",
    "five groups of 60 of whom 5% get nothing, AUC",
    "hit rates of 5% and 1%, random with 5%",
}


@over_worlds(40)
@pytest.mark.parametrize(
    "study", [pytest.param(one, id=one.world) for one in STUDIES if one.world in FAST]
)
def test_a_claim_holds_over_many_worlds(study, n_worlds):
    rates = study.rates(n_worlds)
    assert [f"{rate.claim.what}: {rate}" for rate in rates if rate.is_met is False] == []


def test_every_fast_study_is_one_of_the_benchmark():
    assert {study.world for study in STUDIES} >= FAST
    assert len({study.world for study in STUDIES}) == len(STUDIES)


def drawn(seed: int) -> dict[str, World]:
    rng = np.random.default_rng(seed)
    return {
        "spread": spread.wider_spread(rng, times=3),
        "lists": covariates.unequal_lists(rng, n_positives=(1, 2)).world,
        "level": level.exchangeable(rng, level.KINDS["normal"], level.KINDS["hit rate 5%"]),
        "effects": intervals.many_effects(rng, sd=0.2),
        "cell": power.one_cell_lost(rng)[0],
    }


@pytest.mark.parametrize("name", drawn(0))
def test_a_world_is_analysed_as_an_audit_of_its_table_is(name):
    world = drawn(1)[name]
    names = [metric.name for metric in world.metrics]
    attributes = {chr(ord("a") + at): column for at, column in enumerate(world.codes)}
    table = pl.DataFrame(
        {
            "user_id": np.arange(world.n_users),
            **attributes,
            **dict(zip(names, world.values, strict=True)),
        }
    )
    result = fairrec.audit(
        values=table,
        by=[*attributes],
        metrics=names,
        tables=fairrec.Tables(better={"value": "higher"} if "value" in names else None),
        statistics=fairrec.Statistics(permutations=PERMUTATIONS),
        seed=3,
    )
    analysis = audited(world, seed=3)
    for at, metric in enumerate(names):
        mine = analysis.adjusted_p_values[at]
        assert sorted(result.groups(metric)["p_adjusted"]) == approx(
            sorted(mine[~np.isnan(mine)]), rel=1e-12
        )
        named = [finding.group for finding in result.metric(metric).findings]
        assert len(named) == len(named_groups(analysis, at))


ALPHA = 0.05
N_PERMUTATIONS = 99
MIN_USERS = 4


def population_of(users: pl.DataFrame, values, bounds=(0, 1)) -> Population:
    codes = [users[name].rank("dense").to_numpy() - 1 for name in ATTRIBUTES]
    return population(codes, values, min_users=MIN_USERS, bounds=bounds)


def chance_in(world: Population, seed: int):
    """The test against chance, (n_metrics, n_groups) adjusted p-values, (n_metrics,) of gaps."""
    test = permutation_test(
        *(world.moments, world.grouping, world.is_tested, N_PERMUTATIONS, seed),
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
    """Users, and values of metrics with 20, 6 and 2 levels, undefined for a share of the users.

    Small groups and skewed sizes.
    """
    users, predictions = random_world(n_users, seed=seed)
    is_defined = np.random.default_rng(seed).random(n_users) >= share_undefined
    scores = predictions["score"].to_numpy()
    place = (scores > scores[:, :1]).sum(axis=1) + 1
    n_candidates = scores.shape[1]
    auc = (n_candidates - place) / (n_candidates - 1)
    values = np.stack([auc, (place <= 5) / place, place <= 5])
    values[:, ~is_defined] = np.nan
    return users, values


@over_worlds(250)
@pytest.mark.parametrize(("n_users", "share_undefined"), [(400, 0.0), (300, 0.3)])
def test_worlds_without_a_gap_have_findings_no_more_often_than_alpha(
    n_users, share_undefined, n_worlds
):
    with_finding, with_gap = 0, np.zeros(3, dtype=int)
    for seed in range(n_worlds):
        users, values = without_a_gap(seed, n_users, share_undefined)
        _, adjusted, p_of_gaps = chance_in(population_of(users, values), seed)
        with_finding += adjusted.min() <= ALPHA
        with_gap += p_of_gaps <= ALPHA
    # 19 of 250: more come up in 3 cases of 100 where the rate is alpha, but in 88 of 100 where it
    # is twice that and in 999 of 1,000 where it is three times that
    tolerated = binom.ppf(0.97, n_worlds, ALPHA)
    assert with_finding <= tolerated
    assert with_gap.max() <= tolerated
