"""All studies, in the order of the table."""

from __future__ import annotations

from benchmarks.statistics import spread

STUDIES = (*spread.STUDIES,)
