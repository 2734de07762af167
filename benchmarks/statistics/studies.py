"""All studies, in the order of the table."""

from __future__ import annotations

from benchmarks.statistics import (
    affected,
    all_at_once,
    changes,
    circumstances,
    comparison,
    counts,
    depth,
    gate,
    given,
    interaction,
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
    *circumstances.STUDIES,
    *given.STUDIES,
    *level.STUDIES,
    *seeds.STUDIES,
    *intervals.STUDIES,
    *all_at_once.STUDIES,
    *power.STUDIES,
    *depth.STUDIES,
    *interaction.STUDIES,
    *changes.STUDIES,
    *comparison.STUDIES,
    *gate.STUDIES,
    *affected.STUDIES,
    *unseen.STUDIES,
    *releases.STUDIES,
    *counts.STUDIES,
    *items.STUDIES,
)
