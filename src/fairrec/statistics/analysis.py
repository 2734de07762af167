"""The analysis of what was measured: moments, the test, and all that follows from them."""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from fairrec.core.arrays import BoolArray, FloatArray
from fairrec.core.audit_options import AuditOptions
from fairrec.core.progress import Progress
from fairrec.groups.grouping import Grouping
from fairrec.metrics.direction import worse_ends
from fairrec.metrics.measured import Measured
from fairrec.statistics.bootstrap import (
    ResampledUsers,
    UserBlocks,
    random_set_shares,
    resample_users,
)
from fairrec.statistics.intervals import CutOffs, Estimates, Intervals, estimate, is_half_bounded
from fairrec.statistics.moments import Moments, compute_moments
from fairrec.statistics.permutation import (
    NullHypothesis,
    PermutationTest,
    Permuted,
    Resampled,
    null_distribution,
)
from fairrec.statistics.power import detectable_harm
from fairrec.statistics.scores import GuardedSpread, guard_spread, own_spread, summarise_everyone
from fairrec.statistics.strata import Strata
from fairrec.statistics.verdict import is_decided

MOST_DRAWS = 20_000
"""Permutations beyond which an outcome that another seed may change is left open."""
RESAMPLING_RISK = 0.001
"""Probability that another seed gives another outcome."""


@dataclass(frozen=True)
class Analysis:
    """What was measured, the groups, and the test.

    Parameters
    ----------
    moments, raw : adjusted for covariates where some are given, and unadjusted
    is_tested : (n_metrics, n_groups), groups with enough users with a defined value
    test : None where nothing was permuted, or items are compared
    resampled : of items, their test and standard errors by users drawn again
    random_sets : (n_metrics, n_groups), of items the share of random sets of as many that are as
        far off; None where nothing was permuted
    raised : Monte Carlo standard errors by which critical values are raised; above 0 where the most
        permutations do not exclude another outcome with another seed
    """

    measured: Measured
    grouping: Grouping
    options: AuditOptions
    moments: Moments
    raw: Moments
    is_tested: BoolArray
    test: PermutationTest | None
    resampled: ResampledUsers | None = None
    random_sets: FloatArray | None = None
    raised: float = 0.0

    @property
    def tested_by(self) -> PermutationTest | ResampledUsers | None:
        """Permutations, or of items users drawn again; None where nothing was tested."""
        return self.test if self.random_sets is None else self.resampled

    @property
    def n_permutations(self) -> int:
        """The number of permutations; of items the one in the options."""
        return self.options.permutations if self.test is None else self.test.n_permutations

    @property
    def is_fully_scored(self) -> BoolArray:
        """(n_groups,), groups of which every user is scored."""
        sample = self.moments.sample
        n_groups = len(self.grouping.lattice)
        return np.ones(n_groups, dtype=bool) if sample is None else sample.is_fully_scored_group

    @property
    def is_adjusted(self) -> bool:
        """Whether some covariates are given."""
        return self.moments is not self.raw

    @property
    def kept_share(self) -> FloatArray:
        """(n_metrics, n_groups), users of a group in strata with others; NaN for an empty group."""
        n, kept = self.moments.n, self.moments.weights.n_kept
        share: FloatArray = np.divide(kept, n, out=np.full(n.shape, np.nan), where=n > 0)
        return share

    @property
    def is_comparable(self) -> BoolArray:
        """(n_metrics, n_groups), groups with half of their users or more in strata with others."""
        return np.asarray(2 * self.moments.weights.n_kept >= self.moments.n)

    @cached_property
    def estimates(self) -> Estimates:
        """Values, differences and confidence intervals of all groups."""
        found = estimate(
            self.moments,
            self.options.alpha,
            self.cut_offs,
            self.raw,
            self._extremes,
            self.guarded.spread,
        )
        if self.resampled is not None:
            found = self.resampled.intervals(found, self.raw, self.options.alpha)
        return found

    @cached_property
    def guarded(self) -> GuardedSpread:
        """The spread of groups, drawn to that of wider groups that contain them."""
        return guard_spread(own_spread(self.moments), self.moments, self.grouping.lattice)

    @property
    def _extremes(self) -> FloatArray:
        """(n_metrics, 2), values that users of a group may have although none was seen.

        The worst value of all users. The better end is ignored: with the best value of all, groups
        in metrics with a long tail could hardly ever be shown to be worse.
        """
        extremes = np.full((len(self.measured.metrics), 2), np.nan)
        for i, metric in enumerate(self.measured.metrics):
            known = self.measured.column(i).known
            for end in worse_ends(metric.metric.higher_is_better) if len(known) else ():
                extremes[i, int(end > 0)] = known.max() if end > 0 else known.min()
        return extremes

    @cached_property
    def cut_offs(self) -> CutOffs | None:
        """The cut-offs of simultaneous intervals."""
        if self.test is None:
            return None
        return CutOffs(*self.test.cut_offs(self.options.alpha, self.raised))

    @cached_property
    def score(self) -> FloatArray:
        """(n_metrics, n_groups), the difference in standard errors; 0 where undefined."""
        with np.errstate(invalid="ignore", divide="ignore"):
            score = self.moments.difference / self.tested_error
        return np.nan_to_num(score, posinf=0.0, neginf=0.0)

    @cached_property
    def tested_error(self) -> FloatArray:
        """(n_metrics, n_groups), of the difference: by chance, of items by users drawn again."""
        if self.resampled is None:
            return self.moments.chance_error
        scores = self.resampled.scores
        error = np.full(scores.shape, np.nan)
        np.divide(self.moments.difference, scores, out=error, where=scores != 0)
        return error

    @cached_property
    def detectable(self) -> FloatArray:
        """(n_metrics, n_groups), the smallest true harm shown with 80% probability."""
        weights = self.moments.weights
        with np.errstate(divide="ignore"):
            # as many users in one stratum would have the same error
            n, n_others = 1 / weights.own, 1 / weights.others
        found = [
            self._detectable(i, np.nan_to_num(n[i]), np.nan_to_num(n_others[i]), critical)
            for i, critical in enumerate(np.moveaxis(self._critical_of_both, 1, 0))
        ]
        return np.where(self.is_comparable, np.reshape(found, self.is_tested.shape), np.nan)

    def find_detectable(self, i: int, n: FloatArray) -> FloatArray:
        """The same for groups of `n` users by any number of attributes."""
        critical = self._critical_of_both[:, i]
        critical = np.where(self.is_tested[i], critical, -np.inf).max(axis=1, initial=-np.inf)
        return self._detectable(i, n, None, np.where(np.isinf(critical), np.inf, critical)[:, None])

    def _detectable(
        self, i: int, n: FloatArray, n_others: FloatArray | None, critical: FloatArray
    ) -> FloatArray:
        """NaN for ratios of items, whose errors do not follow from sizes."""
        if self.measured.ratio is not None:
            return np.full(n.shape, np.nan)
        higher_is_better = self.measured.metrics[i].metric.higher_is_better
        found = detectable_harm(
            summarise_everyone(self.moments), i, n, critical, higher_is_better, n_others
        )
        (low, high), mean = self.raw.bounds[i], self.raw.mean[i]
        largest = max(
            high - mean if end > 0 else mean - low for end in worse_ends(higher_is_better)
        )
        # no group is worse than the worst value, which moments within strata do not have
        return np.where(found <= largest, found, np.nan)

    @cached_property
    def _critical_of_both(self) -> FloatArray:
        """(2, n_metrics, n_groups), the score beyond which the test and the interval exclude 0."""
        return self.critical if self.cut_offs is None else np.maximum(self.critical, self.cut_offs)

    @cached_property
    def p_values(self) -> FloatArray:
        """(n_metrics, n_groups), for each group by itself; NaN where nothing was tested."""
        if self.tested_by is None:
            return np.full(self.is_tested.shape, np.nan)
        return self.tested_by.p_values

    @cached_property
    def adjusted_p_values(self) -> FloatArray:
        """(n_metrics, n_groups), NaN where a group is not tested; of items by users drawn again."""
        adjusted = np.full(self.is_tested.shape, np.nan)
        if self.tested_by is None:
            return adjusted
        found = self.tested_by.adjusted_p_values
        adjusted[self.is_tested] = found[self.is_tested]
        if self.test is not None:
            # permutations compare distributions: where these may differ otherwise than in their
            # means, the interval has the last word
            within = self.moments.within
            bounds = self.moments.bounds if within is None else within.bounds
            is_limited = self.guarded.is_guarded | is_half_bounded(bounds)[:, None]
            is_limited &= self.is_tested & (found <= self.options.alpha)
            intervals = Intervals(self.moments, self.guarded.spread)
            scores = np.zeros_like(found)
            scores[is_limited] = intervals.cut_offs_at_zero(is_limited, self._extremes)
            by_interval = self.test.interval_p_values(scores)
            adjusted = np.where(is_limited, np.maximum(adjusted, by_interval), adjusted)
        return adjusted

    @cached_property
    def is_significant(self) -> BoolArray:
        """(n_metrics, n_groups), an adjusted p-value of at most alpha."""
        if self.test is None or not self.raised:
            return np.nan_to_num(self.adjusted_p_values, nan=1.0) <= self.options.alpha
        score, (above, below) = self.test.scores.smaller, self.critical
        return np.asarray(self.is_tested & ((score >= above) | (score <= -below)))

    @cached_property
    def is_beyond_chance(self) -> BoolArray:
        """(n_metrics, n_groups), significant, with an interval that excludes 0."""
        low, high = self.estimates.simultaneous
        return self.is_significant & ((low > 0) | (high < 0))

    @cached_property
    def is_undecided(self) -> BoolArray:
        """(n_metrics, n_groups), significant, with an interval that includes 0."""
        return self.is_significant & ~self.is_beyond_chance

    @property
    def has_enough_draws(self) -> bool:
        """Whether the test can show anything at its significance level."""
        return self.tested_by is not None and bool(
            np.isfinite(self.critical[:, self.is_tested]).all()
        )

    @cached_property
    def critical(self) -> FloatArray:
        """(2, n_metrics, n_groups), the score up and down beyond which a group is significant."""
        if self.resampled is not None and self.tested_by is not None:
            return np.stack([self.resampled.critical] * 2)
        if self.test is None:
            return np.full((2, *self.is_tested.shape), np.inf)
        return self.test.critical(self.options.alpha, self.raised)


def analyse(
    measured: Measured,
    grouping: Grouping,
    options: AuditOptions,
    progress: Progress = lambda stage, done, total: None,
    strata: Strata | None = None,
    executor: Executor | None = None,
    blocks: UserBlocks | None = None,
) -> Analysis:
    """Moments of all groups and the test; the rest follows from them.

    Parameters
    ----------
    strata : users with equal covariates
    executor : whose workers draw permutations; None for the threads of this process
    blocks : of users, where items are compared
    """
    raw = compute_moments(measured, grouping, options.n_threads)
    if strata is not None and strata.n_strata == 1:
        strata = None
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
        random_sets = random_set_shares(moments, grouping, options.permutations, *how)
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
        found = replace(found, test=PermutationTest.join([found.test, more]))
    return found


def _null_hypothesis(found: Analysis, strata: Strata | None) -> NullHypothesis:
    """The null hypothesis of the test."""
    measured, grouping, moments = found.measured, found.grouping, found.moments
    better = [metric.metric.higher_is_better for metric in measured.metrics]
    if moments.sample is not None:
        return Resampled(moments, moments.sample, grouping, found.is_tested, better)
    # values that differ within a level are tested as if they were equal
    on_levels = measured.on_levels
    if on_levels is not measured:
        moments = compute_moments(on_levels, grouping, found.options.n_threads, strata)
    return Permuted(moments, grouping, found.is_tested, better)


def _errors_of_seeds(n_draws: int, most: int) -> float:
    """Monte Carlo standard errors by which critical values of any seed may be off.

    A sequential Monte Carlo test with a bounded resampling risk (Gandy 2009): draws are doubled
    until critical values that much higher and lower give the same outcome. Where the most draws do
    not, the higher values decide.
    """
    n_looks = 1 + math.ceil(math.log2(most / n_draws))
    # another seed has the same risk
    return float(-ndtri(RESAMPLING_RISK / 2 / n_looks))
