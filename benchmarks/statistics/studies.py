"""All studies, in the order of the table."""

from __future__ import annotations

from benchmarks.statistics import intervals, level, spread

STUDIES = (*spread.STUDIES, *level.STUDIES, *intervals.STUDIES)
