"""Analyses of plain codes and values, without tables."""

from __future__ import annotations

import numpy as np

from fairrec.core.audit_options import AuditOptions
from fairrec.metrics import parse_metric
from fairrec.metrics.measured import Measured
from fairrec.statistics.analysis import Analysis, analyse
from tests.groups.small_grouping import grouping_of


def measured_as(metrics: str, values) -> Measured:
    """Everyone's values, called by the names of these metrics."""
    values = np.atleast_2d(np.asarray(values, dtype=np.float64))
    everyone = np.ones(values.shape[1], dtype=bool)
    named = tuple(map(parse_metric, metrics.split(",")))
    assert len(named) == len(values)
    return Measured(named, values, everyone, everyone)


def analysis_of(codes, metrics: str, values, *, min_users: int = 1, depth=3, **options) -> Analysis:
    """The attributes are a, b, c ... with the values 0, 1, 2 ..."""
    settings = {"permutations": 99, "threads": 1, **options}
    return analyse(
        measured_as(metrics, values),
        grouping_of(codes, min_users=min_users, depth=depth),
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
