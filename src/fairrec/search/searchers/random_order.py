"""The eligible combinations in random order: what any search must beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.search.evidence import Evidence
from fairrec.search.searcher import NoHyperParameters, searcher
from fairrec.search.searchers.listed import ListedGroups


@searcher("random", "combinations in random order", searches_all=True)
def random_order(
    evidence: Evidence, metrics: Sequence[int], hyper: NoHyperParameters, rng: np.random.Generator
) -> ListedGroups:
    """Each eligible combination once."""
    return ListedGroups(rng.permutation(evidence.space.full))
