"""Double-ended discrete particle swarm optimisation (FairRec, Guo et al. 2023)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.search.searcher import Task, require, searcher
from fairrec.search.searchers.swarm import (
    Swarm,
    SwarmParameters,
    TwoSwarms,
    pulls,
    uniform_positions,
)


@dataclass(frozen=True, slots=True)
class DPSOParameters(SwarmParameters):
    """The three designs of the paper, each of which can be switched off.

    Parameters
    ----------
    alpha : the size of the thermal motion; 0 for none
    from_users : 1 to start where the users are, 0 to start anywhere
    shared : 1 for swarms that hear of each other's positions, 0 for each by itself
    """

    alpha: float = 0.09
    from_users: int = 1
    shared: int = 1

    def __post_init__(self) -> None:
        # super() does not find its way through a dataclass with slots
        SwarmParameters.__post_init__(self)
        require(0 <= self.alpha < math.inf, "alpha", self.alpha, "a number from 0")
        for name, number in (("from_users", self.from_users), ("shared", self.shared)):
            require(number in (0, 1), name, number, "0 or 1")


@searcher("dpso", "the two swarms of the FairRec paper", hyper_parameters=DPSOParameters)
def dpso(task: Task, hyper: DPSOParameters) -> TwoSwarms[DPSOParameters]:
    """Swarms that start where the users are and share what they find."""
    start = observed_positions if hyper.from_users else uniform_positions
    return TwoSwarms(task, hyper, start, next_velocities, shares=bool(hyper.shared))


def observed_positions(space: Grouping, n: int, rng: np.random.Generator) -> IntArray:
    """(n, n_attributes), each value with the chance that is its share of the users.

    The attributes are drawn one by one, so that combinations nobody has come up too.
    """
    columns = []
    for codes, n_values in zip(space.cells.codes, space.cells.n_values, strict=True):
        n_users = np.bincount(codes, weights=space.cells.n_users, minlength=n_values)
        columns.append(rng.choice(n_values, n, p=n_users / n_users.sum()))
    return np.stack(columns, axis=1)


def next_velocities(swarm: Swarm, hyper: DPSOParameters, rng: np.random.Generator) -> FloatArray:
    """Equation 8: thermal motion and pulls, with random numbers for each particle and attribute.

    The paper lets particles adjust their velocity in each dimension. With one number for all of
    them (as in its published code) a particle only moves along a line through its bests, and
    more often misses the extremes. The present velocities have no part in the equation.
    """
    phi = rng.standard_normal(swarm.positions.shape)
    centre = swarm.best_positions.mean(axis=0)
    thermal: FloatArray = hyper.alpha * np.abs(centre - swarm.positions) * phi
    return thermal + pulls(swarm, hyper, rng)
