"""All studies, in the order of the table."""

from __future__ import annotations

from benchmarks.statistics import (
    all_at_once,
    changes,
    comparison,
    counts,
    covariates,
    depth,
    gate,
    given,
    intervals,
    items,
    level,
    power,
    releases,
    seeds,
    shape,
    spread,
    unseen,
)

STUDIES = (
    *spread.STUDIES,
    *shape.STUDIES,
    *covariates.STUDIES,
    *given.STUDIES,
    *level.STUDIES,
    *seeds.STUDIES,
    *intervals.STUDIES,
    *all_at_once.STUDIES,
    *power.STUDIES,
    *depth.STUDIES,
    *changes.STUDIES,
    *comparison.STUDIES,
    *gate.STUDIES,
    *unseen.STUDIES,
    *releases.STUDIES,
    *counts.STUDIES,
    *items.STUDIES,
)
