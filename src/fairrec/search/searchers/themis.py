"""Themis (Galhotra, Brun and Meliou 2017): the whole Cartesian product, one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.search.evidence import Evidence
from fairrec.search.searcher import NoHyperParameters, searcher
from fairrec.search.searchers.listed import ListedGroups


@searcher("themis", "every combination in turn", searches_all=True)
def themis(
    evidence: Evidence, metrics: Sequence[int], hyper: NoHyperParameters, rng: np.random.Generator
) -> ListedGroups:
    """The combinations in the order of their values; those without enough users cost nothing."""
    return ListedGroups(evidence.space.full)
