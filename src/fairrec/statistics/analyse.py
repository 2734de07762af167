"""The analysis of what was measured, with as many permutations as its outcome takes."""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import replace

from scipy.special import ndtri

from fairrec.core.audit_options import AuditOptions
from fairrec.core.progress import Progress
from fairrec.groups.grouping import Grouping
from fairrec.metrics.measured import Measured
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.bootstrap import UserBlocks, resample_users, shares_of_random_sets
from fairrec.statistics.moments import compute_moments
from fairrec.statistics.permutation import (
    NullHypothesis,
    PermutationTest,
    Permuted,
    Resampled,
    null_distribution,
)
from fairrec.statistics.strata import Strata
from fairrec.statistics.verdict import is_decided

MOST_DRAWS = 20_000
"""Permutations beyond which an outcome that another seed may change is left open."""
RESAMPLING_RISK = 0.001
"""Probability that another seed gives another outcome."""


def analyse(
    measured: Measured,
    grouping: Grouping,
    options: AuditOptions,
    progress: Progress = lambda stage, done, total: None,
    strata: Strata | None = None,
    executor: Executor | None = None,
    blocks: UserBlocks | None = None,
) -> Analysis:
    """Moments of all groups and the test against chance; the rest follows from them.

    Parameters
    ----------
    strata : users in the same circumstances, among whom alone groups are compared
    executor : whose workers draw permutations; None for the threads of this process
    blocks : of the users who were shown items, where these are compared
    """
    raw = compute_moments(measured, grouping, options.n_threads)
    if strata is not None and strata.n_strata == 1:
        strata = None  # everyone is alike, and bounds of a metric still hold
    moments = (
        raw if strata is None else compute_moments(measured, grouping, options.n_threads, strata)
    )
    is_tested = (moments.n >= grouping.min_users) & grouping.lattice.is_tested
    found = Analysis(measured, grouping, options, moments, raw, is_tested, None)
    if blocks is not None:
        resampled = resample_users(
            blocks, moments, grouping, options.alpha, options.seed, options.n_threads
        )
        found = replace(found, resampled=resampled)
    if not options.permutations or not len(moments.mean):
        return found
    n_done, n_wanted = 0, options.permutations

    def advance(n: int) -> None:
        nonlocal n_done
        n_done += n
        progress("testing against chance", n_done, n_wanted)

    how = options.seed, options.n_threads, advance
    if blocks is not None:
        random_sets = shares_of_random_sets(moments, grouping, options.permutations, *how)
        return replace(found, random_sets=random_sets)
    null = _null_hypothesis(found, strata)
    most = max(n_wanted, MOST_DRAWS)
    errors = _errors_of_seeds(n_wanted, most)
    found = replace(found, test=null_distribution(null, n_wanted, *how, executor))
    while found.test is not None and not is_decided(found, errors):
        n_drawn = found.test.n_permutations
        if n_drawn == most:
            return replace(found, raised=errors)
        n_wanted = min(2 * n_drawn, most)
        more = null_distribution(null, n_wanted - n_drawn, *how, executor, n_drawn)
        found = replace(found, test=PermutationTest.joined([found.test, more]))
    return found


def _null_hypothesis(found: Analysis, strata: Strata | None) -> NullHypothesis:
    """What is drawn at random."""
    measured, grouping, moments = found.measured, found.grouping, found.moments
    better = [metric.metric.higher_is_better for metric in measured.metrics]
    if moments.sample is not None:
        return Resampled(moments, moments.sample, grouping, found.is_tested, better)
    # levels may hold values that differ: they are tested as what permutations can tell apart
    on_levels = measured.on_levels
    if on_levels is not measured:
        moments = compute_moments(on_levels, grouping, found.options.n_threads, strata)
    return Permuted(moments, grouping, found.is_tested, better)


def _errors_of_seeds(n_draws: int, most: int) -> float:
    """Monte Carlo standard errors by which critical values of any seed may be off.

    A sequential Monte Carlo test with a bounded resampling risk (Gandy 2009): the outcome is known
    where critical values that are higher and lower by so much give no other one. Draws are doubled
    until it is. Where the most draws leave it open, decisions are taken by the higher values.
    """
    n_looks = 1 + math.ceil(math.log2(most / n_draws))
    # another seed has the same risk
    return float(-ndtri(RESAMPLING_RISK / 2 / n_looks))
