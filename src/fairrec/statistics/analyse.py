"""The analysis of what was measured, with as many permutations as its outcome takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from scipy.special import ndtri

from fairrec.core.audit_options import AuditOptions
from fairrec.core.engines.engine import Engine
from fairrec.core.progress import Progress
from fairrec.groups.grouping import Grouping
from fairrec.metrics.measured import Measured
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.moments import moments_of
from fairrec.statistics.permutation import (
    NullHypothesis,
    PermutationTest,
    Permuted,
    null_distribution,
)
from fairrec.statistics.random_sets import shares_of_random_sets
from fairrec.statistics.resampled_users import UserBlocks, resample_users
from fairrec.statistics.sampled_test import Resampled
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
    engine: Engine | None = None,
    blocks: UserBlocks | None = None,
) -> Analysis:
    """Moments of all groups and the test against chance; the rest follows from them.

    Parameters
    ----------
    strata : users in the same circumstances, among whom alone groups are compared
    engine : whose workers draw permutations; None for the threads of this process
    blocks : of the users who were shown items, where these are compared
    """
    raw = moments_of(measured, grouping, options.n_threads)
    if strata is not None and strata.n_strata == 1:
        strata = None  # everyone is alike, and bounds of a metric still hold
    moments = raw if strata is None else moments_of(measured, grouping, options.n_threads, strata)
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
    # levels may hold values that differ: they are tested as what permutations can tell apart
    on_levels = measured.on_levels
    tested = (
        moments
        if on_levels is measured
        else moments_of(on_levels, grouping, options.n_threads, strata)
    )
    better = [metric.metric.higher_is_better for metric in measured.metrics]
    null: NullHypothesis
    if moments.sample is not None:
        null = Resampled(moments, moments.sample, grouping, is_tested, better)
    else:
        null = Permuted(tested, grouping, is_tested, better)

    def draw(first: int, stop: int) -> PermutationTest:
        nonlocal n_wanted
        n_wanted = stop
        return null_distribution(null, stop - first, *how, engine, first)

    return _with_draws(found, draw)


def _with_draws(found: Analysis, draw: Callable[[int, int], PermutationTest]) -> Analysis:
    """The same with a test, for which draws are doubled until they decide.

    A sequential Monte Carlo test with a bounded resampling risk (Gandy 2009): the outcome is known
    where critical values may be higher and lower by their Monte Carlo error without another one.
    Where the most draws leave it open, decisions are taken by the higher ones.

    Parameters
    ----------
    draw : from one number up to another
    """
    n = found.options.permutations
    most = max(n, MOST_DRAWS)
    n_looks = 1 + math.ceil(math.log2(most / n))
    # another seed has the same risk
    errors = float(-ndtri(RESAMPLING_RISK / 2 / n_looks))
    found = replace(found, test=draw(0, n))
    while not is_decided(found, errors):
        if n == most:
            return replace(found, raised=errors)
        assert found.test is not None
        more = min(2 * n, most)
        found = replace(found, test=PermutationTest.joined([found.test, draw(n, more)]))
        n = more
    return found
