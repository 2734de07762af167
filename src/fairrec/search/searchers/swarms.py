"""Particle swarms: plain ones, and those of the FairRec paper (Guo et al. 2023).

`pso` is particle swarm optimisation with inertia (Shi and Eberhart 1998); with inertia 1 it is that
of Kennedy and Eberhart (1995).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.search.evidence import Evidence
from fairrec.search.searcher import NOTHING, Flag, Request, Task, hyper_dataclass, searcher

FEW_COMBINATIONS = 1_000
"""Up to here the paper takes a larger share of the combinations and fewer iterations."""


NonNegative = Annotated[float, Field(ge=0)]


@hyper_dataclass
class SwarmParameters:
    """What can be set for any swarm; the defaults are those of the FairRec paper.

    Parameters
    ----------
    c1, c2 : pull of a particle's own best position and of the swarm's
    v_max : the most steps a particle moves in one attribute
    epsilon : particles of each swarm as a share of all combinations; None for 0.2 with at most
        1,000 combinations and 0.005 with more
    iterations : None for 10 with at most 1,000 combinations and 20 with more
    """

    c1: NonNegative = 2.0
    c2: NonNegative = 2.0
    v_max: Annotated[float, Field(gt=0)] = 2.0
    epsilon: Annotated[float, Field(gt=0, le=1)] | None = None
    iterations: Annotated[int, Field(ge=1)] | None = None

    def n_particles(self, space: Grouping) -> int:
        """The particles of each swarm, at least 2."""
        usual = 0.2 if space.n_combinations <= FEW_COMBINATIONS else 0.005
        epsilon = usual if self.epsilon is None else self.epsilon
        # the product of many attributes outgrows all memory; more particles than users, all of
        # which are in some combination, would only meet each other
        return max(2, min(round(epsilon * space.n_combinations), space.n_users))

    def n_iterations(self, space: Grouping) -> int:
        """How often the particles move."""
        usual = 10 if space.n_combinations <= FEW_COMBINATIONS else 20
        return usual if self.iterations is None else self.iterations


class Swarm:
    """Particles that look for the highest value, or with the sign -1 for the lowest.

    Parameters
    ----------
    positions : (n_particles, n_attributes), a value of each attribute
    velocities : (n_particles, n_attributes)

    Attributes
    ----------
    best_positions : (n_particles, n_attributes), where each particle did best; where it started
        as long as it has been nowhere with a value
    best_fitness : (n_particles,), NaN until then
    leader : (n_attributes,), the best position that the swarm knows; None for none yet
    """

    def __init__(self, positions: IntArray, velocities: FloatArray, sign: float) -> None:
        self.positions = positions
        self.velocities = velocities
        self.best_positions = positions.copy()
        self.best_fitness = np.full(len(positions), np.nan)
        self.leader: IntArray | None = None
        self._leader_fitness = -np.inf
        self._sign = sign

    def learn(self, values: FloatArray) -> None:
        """Take in the values at the present positions, NaN where there is none."""
        fitness = self._sign * values
        # without a value, none is better
        is_better = fitness > np.nan_to_num(self.best_fitness, nan=-np.inf)
        self.best_fitness[is_better] = fitness[is_better]
        self.best_positions[is_better] = self.positions[is_better]

    def follow(self, positions: IntArray, values: FloatArray) -> None:
        """Follow the best of these positions if it is better than the leader so far."""
        fitness = np.where(np.isnan(values), -np.inf, self._sign * values)
        best = int(np.argmax(fitness))
        if fitness[best] > self._leader_fitness:
            self._leader_fitness = float(fitness[best])
            self.leader = positions[best].copy()

    def move(self, velocities: FloatArray, v_max: float, n_values: Sequence[int]) -> None:
        """Move with these velocities, limited to `v_max`, to the nearest possible positions."""
        self.velocities = np.clip(velocities, -v_max, v_max)
        nearest = np.rint(self.positions + self.velocities).astype(np.int64)
        self.positions = np.clip(nearest, 0, np.array(n_values) - 1)


def pulls(swarm: Swarm, hyper: SwarmParameters, rng: np.random.Generator) -> FloatArray:
    """What draws each particle to its own best and to the leader, at random in each attribute."""
    r1, r2 = rng.random((2, *swarm.positions.shape))
    pull: FloatArray = hyper.c1 * r1 * (swarm.best_positions - swarm.positions)
    if swarm.leader is not None:
        pull += hyper.c2 * r2 * (swarm.leader - swarm.positions)
    return pull


def uniform_positions(space: Grouping, n: int, rng: np.random.Generator) -> IntArray:
    """(n, n_attributes), any value of each attribute with the same chance."""
    return rng.integers(0, space.cells.n_values, (n, len(space.cells.n_values)))


Start = Callable[[Grouping, int, np.random.Generator], IntArray]
"""Groups, particles, random numbers -> (n_particles, n_attributes), their first positions."""
Steer = Callable[[Swarm, Any, np.random.Generator], FloatArray]
"""Swarm, parameters, random numbers -> (n_particles, n_attributes), its next velocities."""


class TwoSwarms:
    """One swarm for the highest value of a metric and one for the lowest, side by side.

    What was scored for one is known to both, so that no group is asked for twice.

    Parameters
    ----------
    start : called once for each swarm
    steer : called once for each swarm and move
    shares : whether a swarm also follows the positions of the other
    """

    def __init__(
        self,
        task: Task,
        hyper: SwarmParameters,
        start: Start,
        steer: Steer,
        *,
        shares: bool,
    ) -> None:
        space, rng = task.space, task.rng
        n = hyper.n_particles(space)
        shape = n, len(space.cells.n_values)
        self.swarms = tuple(
            Swarm(start(space, n, rng), rng.uniform(-hyper.v_max, hyper.v_max, shape), sign)
            for sign in (1.0, -1.0)
        )
        self._space, self._metric, self._rng = space, task.metrics[0], rng
        self._hyper, self._steer, self._shares = hyper, steer, shares
        self._moves_left = hyper.n_iterations(space)
        self._is_over = False
        self._is_known = np.zeros(len(space.full), dtype=bool)
        # one more for the positions without an eligible group, which stay without a value
        self._values = np.full(len(space.full) + 1, np.nan)
        self._seen: set[tuple[int, ...]] = set()
        self._n_queried = 0
        self._full_at, self._is_new = self._locate()

    def ask(self) -> Request:
        """The eligible groups at the present positions that were not asked for before."""
        while not self._is_over:
            unknown = self._full_at[self._full_at < len(self._is_known)]
            unknown = unknown[~self._is_known[unknown]]
            if len(unknown):
                _, first = np.unique(unknown, return_index=True)
                return self._request(unknown[np.sort(first)])
            self._n_queried += int(self._is_new.sum())
            self._move()
        n_queried, self._n_queried = self._n_queried, 0
        return replace(NOTHING, n_queried=[n_queried])

    def _request(self, unknown: IntArray) -> Request:
        """These eligible combinations, and how many others particles come upon between them."""
        first = np.array([np.argmax(self._full_at == at) for at in unknown])
        until = np.cumsum(self._is_new)
        n_queried = np.diff(until[first], prepend=0)
        n_queried[0] += self._n_queried
        self._n_queried = int(until[-1] - until[first[-1]])
        return Request(self._space.full[unknown], n_queried=[*n_queried.tolist(), 0])

    def tell(self, request: Request, evidence: Evidence) -> None:
        """Note the values, and move."""
        at = np.searchsorted(self._space.full, request.groups)
        self._values[at] = evidence.values(request.groups)[self._metric]
        self._is_known[at] = True
        self._move()

    def _locate(self) -> tuple[IntArray, BoolArray]:
        """The eligible combination of each particle of both swarms, and whether it is new.

        The number of all combinations stands for none.
        """
        positions = [tuple(p) for swarm in self.swarms for p in swarm.positions.tolist()]
        is_new = np.zeros(len(positions), dtype=bool)
        for at, position in enumerate(positions):
            is_new[at] = position not in self._seen
            self._seen.add(position)
        groups = self._space.groups_at(positions)
        at_full = np.searchsorted(self._space.full, groups)
        return np.where(groups >= 0, at_full, len(self._space.full)), is_new

    def _move(self) -> None:
        """End an iteration: all values at the present positions are known."""
        values = np.split(self._values[self._full_at], len(self.swarms))
        for swarm, own_values in zip(self.swarms, values, strict=True):
            swarm.learn(own_values)
        for listener in self.swarms:
            for swarm, its_values in zip(self.swarms, values, strict=True):
                if self._shares or swarm is listener:
                    listener.follow(swarm.positions, its_values)
        self._is_over = self._moves_left == 0
        if self._is_over:
            return
        self._moves_left -= 1
        for swarm in self.swarms:
            velocities = self._steer(swarm, self._hyper, self._rng)
            swarm.move(velocities, self._hyper.v_max, self._space.cells.n_values)
        self._full_at, self._is_new = self._locate()


@hyper_dataclass
class PSOParameters(SwarmParameters):
    """inertia: the part of its velocity that a particle keeps; 1 for all of it, as in 1995."""

    inertia: NonNegative = 0.7


@searcher("pso", "two plain particle swarms, one for each end", hyper_parameters=PSOParameters)
def pso(task: Task, hyper: PSOParameters) -> TwoSwarms:
    """Swarms that start anywhere and know nothing of each other."""
    return TwoSwarms(task, hyper, uniform_positions, inertial_velocities, shares=False)


def inertial_velocities(swarm: Swarm, hyper: PSOParameters, rng: np.random.Generator) -> FloatArray:
    """Part of the present velocities, and pulls with a random number for each attribute."""
    return hyper.inertia * swarm.velocities + pulls(swarm, hyper, rng)


@hyper_dataclass
class DPSOParameters(SwarmParameters):
    """The three designs of the paper, each of which can be switched off.

    Parameters
    ----------
    alpha : the size of the thermal motion; 0 for none
    from_users : 1 to start where the users are, 0 to start anywhere
    shared : 1 for swarms that hear of each other's positions, 0 for each by itself
    """

    alpha: NonNegative = 0.09
    from_users: Flag = 1
    shared: Flag = 1


@searcher("dpso", "the two swarms of the FairRec paper", hyper_parameters=DPSOParameters)
def dpso(task: Task, hyper: DPSOParameters) -> TwoSwarms:
    """Swarms that start where the users are and share what they find."""
    start = observed_positions if hyper.from_users else uniform_positions
    return TwoSwarms(task, hyper, start, thermal_velocities, shares=bool(hyper.shared))


def observed_positions(space: Grouping, n: int, rng: np.random.Generator) -> IntArray:
    """(n, n_attributes), each value with the chance that is its share of the users.

    The attributes are drawn one by one, so that combinations without users come up too.
    """
    columns = []
    for codes, n_values in zip(space.cells.codes, space.cells.n_values, strict=True):
        n_users = np.bincount(codes, weights=space.cells.n_users, minlength=n_values)
        columns.append(rng.choice(n_values, n, p=n_users / n_users.sum()))
    return np.stack(columns, axis=1)


def thermal_velocities(swarm: Swarm, hyper: DPSOParameters, rng: np.random.Generator) -> FloatArray:
    """Equation 8: thermal motion and pulls, with random numbers for each particle and attribute.

    The paper lets particles adjust their velocity in each dimension. With one number for all of
    them (as in its published code) a particle only moves along a line through its bests, and
    more often misses the extremes. The present velocities have no part in the equation.
    """
    phi = rng.standard_normal(swarm.positions.shape)
    centre = swarm.best_positions.mean(axis=0)
    thermal: FloatArray = hyper.alpha * np.abs(centre - swarm.positions) * phi
    return thermal + pulls(swarm, hyper, rng)
