"""Particle swarm optimisation with inertia (Shi and Eberhart 1998).

With inertia 1 it is that of Kennedy and Eberhart (1995).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.search.searcher import Task, require, searcher
from fairrec.search.searchers.swarm import (
    Swarm,
    SwarmParameters,
    TwoSwarms,
    pulls,
    uniform_positions,
)


@dataclass(frozen=True, slots=True)
class PSOParameters(SwarmParameters):
    """inertia: the part of its velocity that a particle keeps; 1 for all of it, as in 1995."""

    inertia: float = 0.7

    def __post_init__(self) -> None:
        # super() does not find its way through a dataclass with slots
        SwarmParameters.__post_init__(self)
        require(0 <= self.inertia < math.inf, "inertia", self.inertia, "a number from 0")


@searcher("pso", "two plain particle swarms, one for each end", hyper_parameters=PSOParameters)
def pso(task: Task, hyper: PSOParameters) -> TwoSwarms[PSOParameters]:
    """Swarms that start anywhere and know nothing of each other."""
    return TwoSwarms(task, hyper, uniform_positions, next_velocities, shares=False)


def next_velocities(swarm: Swarm, hyper: PSOParameters, rng: np.random.Generator) -> FloatArray:
    """Part of the present velocities, and pulls with a random number for each attribute."""
    return hyper.inertia * swarm.velocities + pulls(swarm, hyper, rng)
