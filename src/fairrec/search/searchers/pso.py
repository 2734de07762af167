"""Particle swarm optimisation (Kennedy and Eberhart 1995), the plain form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.search.evidence import Evidence
from fairrec.search.searcher import searcher
from fairrec.search.searchers.swarm import (
    Swarm,
    SwarmParameters,
    TwoSwarms,
    pulls,
    refuse_unless_in_range,
)


@dataclass(frozen=True, slots=True)
class PSOParameters(SwarmParameters):
    """inertia: the part of its velocity that a particle keeps."""

    inertia: float = 0.7

    def __post_init__(self) -> None:
        # super() does not find its way through a dataclass with slots
        SwarmParameters.__post_init__(self)
        refuse_unless_in_range("inertia", self.inertia, 0)


@searcher("pso", "two plain particle swarms, one for each end", hyper_parameters=PSOParameters)
def pso(
    evidence: Evidence, metrics: Sequence[int], hyper: PSOParameters, rng: np.random.Generator
) -> TwoSwarms:
    """Swarms that start anywhere and know nothing of each other."""
    space = evidence.space
    return TwoSwarms(
        space,
        metrics[0],
        hyper,
        lambda n: uniform_positions(space, n, rng),
        lambda swarm: next_velocities(swarm, hyper, rng),
        rng,
        shares=False,
    )


def uniform_positions(space: Grouping, n: int, rng: np.random.Generator) -> IntArray:
    """(n, n_attributes), any value of each attribute with the same chance."""
    return rng.integers(0, space.cells.n_values, (n, len(space.cells.n_values)))


def next_velocities(swarm: Swarm, hyper: PSOParameters, rng: np.random.Generator) -> FloatArray:
    """Part of the present velocities, and pulls with a random number for each attribute."""
    return hyper.inertia * swarm.velocities + pulls(swarm, hyper, rng)
