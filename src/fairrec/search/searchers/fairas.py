"""FairAS (ISSTA 2025): adaptive sampling of combinations, and a look around each new extreme."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.search.evidence import Evidence
from fairrec.search.searcher import NOTHING, Request, Task, require, searcher

STEPS = (-2, -1, 1, 2)
"""How far the look around an extreme goes in each attribute."""


@dataclass(frozen=True, slots=True)
class FairASParameters:
    """What can be set.

    Parameters
    ----------
    samples : combinations drawn in a round for each end
    learning_rate : how far the weights move in a round to what the better half shows
    floor : the part of the weights shared evenly by all values, so that none dies out
    rounds : rounds in a row without a new group after which the search ends
    """

    samples: int = 16
    learning_rate: float = 0.3
    floor: float = 0.1
    rounds: int = 20

    def __post_init__(self) -> None:
        for name, number in (("samples", self.samples), ("rounds", self.rounds)):
            require(number >= 1, name, number, "a whole number from 1")
        rate = self.learning_rate
        require(0 <= rate <= 1, "learning_rate", rate, "a share from 0 to 1")
        require(0 < self.floor <= 1, "floor", self.floor, "a share above 0 and up to 1")


class End:
    """What is believed about one end: the highest value, or with the sign -1 the lowest.

    Parameters
    ----------
    weights : for each attribute the chance of each of its values, without support 0
    """

    def __init__(self, sign: float, weights: list[FloatArray]) -> None:
        self.weights = weights
        self._sign = sign
        self._best = -np.inf

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n, n_attributes), combinations drawn attribute by attribute."""
        return np.stack([rng.choice(len(w), n, p=w) for w in self.weights], axis=1)

    def learn(self, codes: IntArray, values: FloatArray, hyper: FairASParameters) -> None:
        """Move the weights towards the values of the better half of these combinations."""
        fitness = self._sign * values
        # with ties at the median more than half: where all are equal, nothing is learned from
        # the order in which they were seen
        better = codes[fitness >= np.median(fitness)]
        for attribute, weights in enumerate(self.weights):
            shares = np.bincount(better[:, attribute], minlength=len(weights)) / len(better)
            blend = (1 - hyper.learning_rate) * weights + hyper.learning_rate * shares
            even = (weights > 0) / np.count_nonzero(weights)
            mixed = (1 - hyper.floor) * blend + hyper.floor * even
            self.weights[attribute] = mixed / mixed.sum()

    def new_extreme(self, values: FloatArray) -> int | None:
        """Which of these values is beyond all before; None when none is."""
        fitness = np.where(np.isnan(values), -np.inf, self._sign * values)
        best = int(np.argmax(fitness))
        if fitness[best] <= self._best:
            return None
        self._best = float(fitness[best])
        return best


@searcher("fairas", "adaptive sampling with local search", hyper_parameters=FairASParameters)
class FairAS:
    """Draws combinations for each end, first with even chances, then more like the better half."""

    def __init__(self, task: Task, hyper: FairASParameters) -> None:
        space = task.space
        self._space = space
        self._metric = task.metrics[0]
        self._hyper = hyper
        self._rng = task.rng
        self._codes = space.codes.astype(np.int64)
        # values that no eligible group has are never drawn and are stepped over
        self._supported = [np.unique(column) for column in self._codes.T]
        self.ends = tuple(End(sign, self._even_weights()) for sign in (1.0, -1.0))
        self._is_seen = np.zeros(len(space.full), dtype=bool)
        self._values = np.full(len(space.full), np.nan)
        self._around: list[list[int]] = []
        self._is_new = False
        self._n_empty_rounds = 0

    def ask(self) -> Request:
        """What lies around new extremes if something unseen does, else a round of samples."""
        groups = self._unseen(self._around)
        self._around = []
        while not len(groups):
            if self._is_seen.all() or self._n_empty_rounds == self._hyper.rounds:
                return NOTHING
            groups = self._unseen(self._next_round())
            self._n_empty_rounds = 0 if len(groups) else self._n_empty_rounds + 1
        return Request(groups)

    def tell(self, request: Request, evidence: Evidence) -> None:
        """Note the values and the new extremes."""
        at = np.searchsorted(self._space.full, request.groups)
        values = evidence.values(request.groups)[self._metric]
        self._values[at] = values
        self._is_seen[at] = True
        self._is_new = True
        for end in self.ends:
            extreme = end.new_extreme(values)
            if extreme is not None:
                self._around += self._neighbours(self._codes[at[extreme]])

    def _even_weights(self) -> list[FloatArray]:
        weights = []
        for supported, n_values in zip(self._supported, self._space.cells.n_values, strict=True):
            even = np.zeros(n_values)
            even[supported] = 1 / max(len(supported), 1)
            weights.append(even)
        return weights

    def _next_round(self) -> list[list[int]]:
        """Samples for both ends, after learning from whatever was seen since the last round."""
        is_known = ~np.isnan(self._values)
        if self._is_new and is_known.any():
            for end in self.ends:
                end.learn(self._codes[is_known], self._values[is_known], self._hyper)
        self._is_new = False
        samples: list[list[int]] = []
        for end in self.ends:
            samples += end.sample(self._hyper.samples, self._rng).tolist()
        return samples

    def _neighbours(self, codes: IntArray) -> list[list[int]]:
        """Combinations one or two steps away in one attribute."""
        found = []
        for attribute, supported in enumerate(self._supported):
            place = int(np.searchsorted(supported, codes[attribute]))
            for step in STEPS:
                if 0 <= place + step < len(supported):
                    neighbour = codes.tolist()
                    neighbour[attribute] = int(supported[place + step])
                    found.append(neighbour)
        return found

    def _unseen(self, positions: list[list[int]]) -> IntArray:
        """The eligible groups among these that were not seen, each once."""
        groups = self._space.groups_at(positions)
        groups = groups[groups >= 0]
        groups = groups[~self._is_seen[np.searchsorted(self._space.full, groups)]]
        _, first = np.unique(groups, return_index=True)
        return groups[np.sort(first)]
