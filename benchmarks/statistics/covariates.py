"""Lists of one quality under other covariates: length and positives differ by group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.statistics.lists import measured_lists, random_lists
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.said import named_groups, names_any
from benchmarks.statistics.spread import NAMED
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import World, audited, one_group, random_codes
from fairrec.core.arrays import AnyArray
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.confounders import BinnedCovariate, find_confounders
from fairrec.statistics.strata import Strata

N_USERS, N_GROUP = 1000, 100
METRICS = ("ndcg@5", "mrr@5", "hit@5")
GROUP = f"in a group of {N_GROUP} of {N_USERS:,}"
ADJUSTED = "any group named, list length and positives given"
TOLD = "a covariate is told"
NOT_TOLD = "a covariate is told that makes no difference"


@dataclass(frozen=True, slots=True)
class ListWorld:
    """A world with the covariates of its lists."""

    world: World
    covariates: tuple[AnyArray, ...]

    @property
    def strata(self) -> Strata:
        """Users alike in all covariates."""
        return build_strata(*self.covariates)


def build_strata(*numbers: AnyArray) -> Strata:
    """Users with the same numbers."""
    levels = [np.unique(column, return_inverse=True) for column in numbers]
    return Strata.from_codes(
        [codes.astype(np.int32) for _, codes in levels], [len(v) for v, _ in levels]
    )


def unequal_lists(
    rng: np.random.Generator,
    n_candidates: tuple[int, int] = (50, 50),
    n_positives: tuple[int, int] = (1, 1),
    overlap: float = 0.0,
    metrics: tuple[str, ...] = METRICS,
    harm: float = 0.0,
) -> ListWorld:
    """Scores of one quality for all, in lists of another length, or with other positives.

    Parameters
    ----------
    n_candidates, n_positives : in the group and elsewhere
    overlap : share of each side in the covariates of the other; at 1/2 both sides are alike
    harm : how much lower the scores of positives are in the group
    """
    is_member = one_group(N_USERS, N_GROUP)
    is_as_group = is_member ^ (rng.random(N_USERS) < overlap)
    covariates = np.where(is_as_group, *n_candidates), np.where(is_as_group, *n_positives)
    lists = random_lists(rng, *covariates, lift=1.0 - harm * is_member)
    codes = [~is_member, *random_codes(rng, N_USERS, 3, 4)]
    return ListWorld(World(codes, *measured_lists(lists, *metrics)), covariates)


def is_told(analysis: Analysis, covariates: tuple[AnyArray, ...]) -> bool:
    """Whether any covariate is reported before the findings."""
    n_metrics = len(analysis.moments.mean)
    findings = [named_groups(analysis, metric) for metric in range(n_metrics)]
    counted = []
    for numbers in covariates:
        strata = build_strata(numbers)
        counted.append(BinnedCovariate("", numbers, strata.of_user, strata.n_strata))
    return bool(find_confounders(analysis, findings, counted))


def looked_at(seed: int, draw: partial[ListWorld]) -> dict[str, Outcome]:
    """What is named as it is, what with the covariates adjusted for, and what is told of these."""
    rng = np.random.default_rng(seed)
    drawn = draw(rng)
    analysis = audited(drawn.world, seed=seed)
    told = happened(is_told(analysis, drawn.covariates))
    return {
        NAMED: happened(names_any(analysis)),
        ADJUSTED: happened(names_any(audited(drawn.world, strata=drawn.strata, seed=seed))),
        TOLD: told,
        NOT_TOLD: told,
    }


def _study(world: str, before: str = "", **covariates: tuple[int, int] | float) -> Study:
    return Study(
        f"{', '.join(METRICS)}, {world}",
        partial(looked_at, draw=partial(unequal_lists, **covariates)),  # type: ignore[arg-type]
        # the metrics do differ: what is wanted is a word about why, and a way to set it aside
        (Claim(NAMED, before=before), Claim(ADJUSTED, None, 0.08), Claim(TOLD, 0.95)),
    )


def _silent(world: str, **how: object) -> Study:
    return Study(
        world,
        partial(looked_at, draw=partial(unequal_lists, **how)),  # type: ignore[arg-type]
        (Claim(NAMED), Claim(NOT_TOLD, None, 0.05)),
    )


LONGER, FEWER = (50, 10), (1, 5)
STUDIES = (
    _study(f"lists of 50 {GROUP}, of 10 elsewhere", ".45-1.00", n_candidates=LONGER),
    _study(f"1 positive {GROUP}, 5 elsewhere", ".45-1.00", n_positives=FEWER),
    _study(
        f"lists of 50 for 80% {GROUP} and for 20% elsewhere, of 10 for all others",
        n_candidates=LONGER,
        overlap=0.2,
    ),
    _study(
        f"1 positive for 80% {GROUP} and for 20% elsewhere, 5 for all others",
        n_positives=FEWER,
        overlap=0.2,
    ),
    _silent(
        "hit@5 in lists of 10 or 50 whatever the group, lower scores in the group",
        n_candidates=LONGER,
        overlap=0.5,
        metrics=("hit@5",),
        harm=1.0,
    ),
    _silent(
        "AUC in lists of 50 for 80% of the group and for 20% elsewhere, lower scores in the group",
        n_candidates=LONGER,
        overlap=0.2,
        metrics=("auc",),
        harm=1.0,
    ),
)
