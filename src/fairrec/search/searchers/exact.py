"""All users: the exact answer for every group, whatever it costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.groups.grouping import EVERYONE
from fairrec.search.evidence import Evidence
from fairrec.search.searcher import NoHyperParameters, searcher
from fairrec.search.searchers.listed import ListedGroups


@searcher("exact", "scores all users", searches_all=True)
def exact(
    evidence: Evidence, metrics: Sequence[int], hyper: NoHyperParameters, rng: np.random.Generator
) -> ListedGroups:
    """Everyone, once."""
    return ListedGroups(np.array([EVERYONE]))
