"""Small populations and analyses, by plain codes and values, and scores by slow loops."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.audit_options import AuditOptions, Engine
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import Lattice
from fairrec.metrics import parse_metric
from fairrec.metrics.measured import Measured
from fairrec.result.metric_result import DescribedMetric, describe_metrics
from fairrec.result.metric_schema import MetricResult
from fairrec.statistics.analysis import Analysis, analyse
from fairrec.statistics.missing import Conclusiveness
from fairrec.statistics.moments import Moments, group_moments
from fairrec.statistics.permutation import Permuted, null_distribution
from fairrec.statistics.scores import normal_scale
from fairrec.statistics.strata import PRIOR_USERS
from tests.groups.small_grouping import build_grouping


@dataclass(frozen=True)
class Population:
    codes: list[np.ndarray]
    values: np.ndarray
    grouping: Grouping
    moments: Moments

    @property
    def lattice(self) -> Lattice:
        return self.grouping.lattice

    @property
    def is_tested(self):
        return (self.moments.n >= self.grouping.min_users) & self.lattice.is_tested

    def position(self, *codes: int) -> int:
        """Where the group with these codes stands in the lattice."""
        return self.lattice.codes.tolist().index(list(codes))

    def users_in(self, group: int) -> np.ndarray:
        is_member = np.ones(self.values.shape[1], dtype=bool)
        for attribute, code in enumerate(self.lattice.codes[group]):
            if code >= 0:
                is_member &= self.codes[attribute] == code
        return is_member


def population(codes, values, depth=3, min_users=1, bounds=None) -> Population:
    codes = [np.asarray(column, dtype=np.int32) for column in codes]
    values = np.atleast_2d(np.asarray(values, dtype=np.float64))
    grouping = build_grouping(codes, min_users=min_users, depth=depth)
    if bounds is not None:
        bounds = np.tile(np.array(bounds, dtype=np.float64), (len(values), 1))
    return Population(codes, values, grouping, group_moments(values, grouping, bounds=bounds))


def permutation_test(
    moments, grouping, is_tested, n_permutations, seed, threads=1, higher_is_better=None
):
    """The test against permutations of the values; by default of metrics without a better end."""
    better = [None] * len(moments.mean) if higher_is_better is None else higher_is_better
    null = Permuted(moments, grouping, is_tested, better)
    return null_distribution(null, n_permutations, seed, threads)


def random_population(seed, n_users=300, share_undefined=0.0, min_users=5) -> Population:
    """Skewed attributes without any effect, values with few levels, some undefined."""
    rng = np.random.default_rng(seed)
    codes = [np.minimum(rng.geometric(p, n_users) - 1, 5) for p in (0.6, 0.4, 0.3)]
    values = np.stack(
        [rng.choice([0, 0, 0, 0.25, 0.5, 1], n_users), rng.random(n_users), rng.random(n_users)]
    )
    values[1, rng.random(n_users) < share_undefined] = np.nan
    return population(codes, values, min_users=min_users)


def measured_as(metrics: str, values) -> Measured:
    """Everyone's values, called by the names of these metrics."""
    values = np.atleast_2d(np.asarray(values, dtype=np.float64))
    everyone = np.ones(values.shape[1], dtype=bool)
    named = tuple(map(parse_metric, metrics.split(",")))
    assert len(named) == len(values)
    return Measured(named, values, everyone, everyone)


def analysis_of(codes, metrics: str, values, *, min_users: int = 1, depth=3, **options) -> Analysis:
    """The attributes are a, b, c ... with the values 0, 1, 2 ..."""
    settings = {"permutations": 99, "engine": Engine(threads=1), **options}
    return analyse(
        measured_as(metrics, values),
        build_grouping(codes, min_users=min_users, depth=depth),
        AuditOptions(depth=depth, min_support=min_users, **settings),
    )


def random_analysis(seed: int = 0, effect: float = 0.0, **options) -> Analysis:
    """Two attributes and two metrics of 400 users.

    Whoever has 0 in both attributes loses a share of the first metric.
    """
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, n, 400) for n in (2, 4)]
    values = rng.random((2, 400))
    values[0] *= 1 - effect * ((codes[0] == 0) & (codes[1] == 0))
    values[1, rng.random(400) < 0.2] = np.nan
    return analysis_of(codes, "mrr@5,urp@5", values, **{"min_users": 10, **options})


def score_by_own(difference: float, sides, variance: float) -> float:
    """Welch's statistic on the scale of a normal variable, of a metric without upper bound.

    Parameters
    ----------
    sides : users of a group and of all others, and the sum of squares around the mean of each
    variance : of all users, to which those of both are drawn
    """
    freedoms = [n - 1 + PRIOR_USERS for n, _ in sides]
    errors = [
        (around + PRIOR_USERS * variance) / freedom / n
        for (n, around), freedom in zip(sides, freedoms, strict=True)
    ]
    # Welch and Satterthwaite
    freedom = sum(errors) ** 2 / sum(e**2 / f for e, f in zip(errors, freedoms, strict=True))
    return float(normal_scale(difference / math.sqrt(sum(errors)), freedom))


def p_slowly(values: Sequence[float], score: float) -> float:
    """By the rank, beyond the largest tenth, or ten, by an exponential fit to the squares."""
    n = len(values)
    places = max(-(-n // 10), min(10, n // 2), 1)
    start = sorted(values)[-places]
    beyond = [one**2 - start**2 for one in values if one > start]
    if score > start and beyond:
        scale = sum(beyond) / len(beyond)
        return len(beyond) / n * math.exp(-(score**2 - start**2) / scale)
    return sum(one >= score for one in values) / n


def least_slowly(rows, shares) -> list[float]:
    """The smallest p-value of each draw over the share of its column, (2, n_columns) each."""
    return [
        min(
            p_slowly([one[tail, at] for one in rows], row[tail, at]) / shares[tail, at]
            for tail in (0, 1)
            for at in range(shares.shape[1])
        )
        for row in rows
    ]


def adjusted_slowly(rows, shares, least: Iterable[float], tail: int, at: int, score: float) -> int:
    """How many draws have as small a p-value in any column as a score in its own."""
    p = p_slowly([one[tail, at] for one in rows], score) / shares[tail, at]
    return sum(one <= p * (1 + 1e-9) for one in least)


def described(analysis: Analysis, standing=()) -> tuple[DescribedMetric, ...]:
    """The metrics of an analysis, where everyone who counts has a value."""
    known = Conclusiveness(0.0, is_conclusive=True, is_constant=False)
    return describe_metrics(analysis, standing or [known] * len(analysis.moments.mean))


def results(analysis: Analysis, standing=()) -> list[MetricResult]:
    return [one.result for one in described(analysis, standing)]
