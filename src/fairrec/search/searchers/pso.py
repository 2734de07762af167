"""Particle swarm optimisation (Kennedy and Eberhart 1995), the plain form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.search.searcher import Task, require, searcher
from fairrec.search.searchers.swarm import Swarm, SwarmParameters, TwoSwarms, pulls


@dataclass(frozen=True, slots=True)
class PSOParameters(SwarmParameters):
    """inertia: the part of its velocity that a particle keeps."""

    inertia: float = 0.7

    def __post_init__(self) -> None:
        # super() does not find its way through a dataclass with slots
        SwarmParameters.__post_init__(self)
        require(0 <= self.inertia < math.inf, "inertia", self.inertia, "a number from 0")


@searcher("pso", "two plain particle swarms, one for each end", hyper_parameters=PSOParameters)
def pso(task: Task, hyper: PSOParameters) -> TwoSwarms[PSOParameters]:
    """Swarms that start anywhere and know nothing of each other."""
    return TwoSwarms(task, hyper, uniform_positions, next_velocities, shares=False)


def uniform_positions(space: Grouping, n: int, rng: np.random.Generator) -> IntArray:
    """(n, n_attributes), any value of each attribute with the same chance."""
    return rng.integers(0, space.cells.n_values, (n, len(space.cells.n_values)))


def next_velocities(swarm: Swarm, hyper: PSOParameters, rng: np.random.Generator) -> FloatArray:
    """Part of the present velocities, and pulls with a random number for each attribute."""
    return hyper.inertia * swarm.velocities + pulls(swarm, hyper, rng)
