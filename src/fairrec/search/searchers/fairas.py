"""FairAS (ISSTA 2025): adaptive sampling of combinations, and a look around each new extreme.

As in its published code but for four things: a combination counts as seen by its values, not by
their digits written one after the other (which confuses some with others); the attribute called
gender there is the first one with two values; the search ends once everything that can be drawn
was drawn; and where its filter leaves no value of an attribute, all values of groups with enough
users are drawn.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.search.evidence import Evidence
from fairrec.search.searcher import Request, Task, hyper_dataclass, searcher

STEPS = (1, -1, 2, -2)
"""How far the look around an extreme goes in each attribute, in this order."""
BLOCK = 512
"""Combinations drawn at once; they are used one by one, and dropped when the weights change."""
MOST_MISSES = 1_000
"""Draws in a row of combinations seen before, after which nothing new is expected."""


@hyper_dataclass
class FairASParameters:
    """What can be set; the defaults are those of the published code.

    Parameters
    ----------
    samples : combinations with a value for each end in a round, including those of the local
        search around extremes
    rounds : after which the search ends
    """

    samples: Annotated[int, Field(ge=1)] = 5
    rounds: Annotated[int, Field(ge=1)] = 22


class End:
    """The chances of drawing each value for one end: the highest, or with sign -1 the lowest."""

    def __init__(self, sign: float, weights: list[FloatArray]) -> None:
        self.sign = sign
        self.weights = weights
        self._drawn: list[tuple[int, ...]] = []

    def draw(self, rng: np.random.Generator) -> tuple[int, ...]:
        """A combination, drawn attribute by attribute."""
        if not self._drawn:
            columns = [rng.choice(len(w), BLOCK, p=w).tolist() for w in self.weights]
            self._drawn = [*zip(*columns, strict=True)]
        return self._drawn.pop()

    def extreme(self, values: Sequence[float]) -> float:
        """The highest of these, or the lowest."""
        return max(values) if self.sign > 0 else min(values)

    def learn(self, codes: IntArray, values: FloatArray) -> None:
        """Share the weight of the values that the better half has by how often it has them."""
        fitness = self.sign * values
        better = codes[fitness > np.median(fitness)]
        self._drawn = []
        if not len(better):
            return
        for attribute, weights in enumerate(self.weights):
            n_better = np.bincount(better[:, attribute], minlength=len(weights))
            mass = weights[n_better > 0].sum()
            moved = np.where(n_better > 0, n_better / len(better) * mass, weights)
            self.weights[attribute] = moved / moved.sum()


@searcher("fairas", "adaptive sampling with local search", hyper_parameters=FairASParameters)
class FairAS:
    """Draws combinations for each end, first with even chances, then more like the better half."""

    def __init__(self, task: Task, hyper: FairASParameters) -> None:
        self._space = task.space
        self._metric = task.metrics[0]
        self._hyper = hyper
        self._rng = task.rng
        # steps are taken in every attribute but the binary one
        binary, n_values = _first_binary(task.space), task.space.cells.n_values
        self._n_steppable = [0 if at == binary else n for at, n in enumerate(n_values)]
        # the low end has its turn first
        self.ends = tuple(End(sign, _first_weights(task.space)) for sign in (-1.0, 1.0))
        self._seen: set[tuple[int, ...]] = set()
        self._codes: list[tuple[int, ...]] = []
        self._values: list[float] = []
        self._proposals = self._search()
        self._answer: float | None = None
        self._n_queried = 0

    def ask(self) -> Request:
        """One group, as what comes next depends on its value."""
        try:
            # a generator that has not begun takes no answer
            groups = [self._proposals.send(self._answer)]
        except StopIteration:
            groups = []
        n_queried, self._n_queried = self._n_queried, 0
        after = [0] if groups else []
        return Request(np.array(groups, dtype=np.int64), n_queried=[n_queried, *after])

    def tell(self, request: Request, evidence: Evidence) -> None:
        """Take in its value."""
        self._answer = float(evidence.values(request.groups)[self._metric, 0])

    def _search(self) -> Generator[int, float | None, None]:
        samples = self._hyper.samples
        for n_before in range(0, 2 * samples * self._hyper.rounds, 2 * samples):
            for place, end in enumerate(self.ends, start=1):
                while len(self._values) < n_before + place * samples:
                    codes = self._draw_unseen(end)
                    if codes is None:
                        return
                    value = yield from self._score(codes)
                    if value is not None and value == end.extreme(self._values):
                        yield from self._look_around(end.sign, codes, value)
            for end in self.ends:
                end.learn(np.array(self._codes), np.array(self._values))

    def _draw_unseen(self, end: End) -> tuple[int, ...] | None:
        if not len(self._space.full):
            return None
        for _ in range(MOST_MISSES):
            codes = end.draw(self._rng)
            if codes not in self._seen:
                return codes
        return None

    def _score(self, codes: tuple[int, ...]) -> Generator[int, float | None, float | None]:
        """The value of a combination; None where it has too few users."""
        self._seen.add(codes)
        self._n_queried += 1
        group = int(self._space.groups_at([codes])[0])
        value = (yield group) if group >= 0 else None
        if value is None or np.isnan(value):
            return None
        self._codes.append(codes)
        self._values.append(value)
        return value

    def _look_around(
        self, sign: float, codes: tuple[int, ...], value: float
    ) -> Generator[int, float | None, None]:
        """One pass over the attributes; a step to something better is taken at once."""
        best = [*codes]
        for attribute, n_values in enumerate(self._n_steppable):
            for step in STEPS:
                stepped = codes[attribute] + step
                if not 0 <= stepped < n_values:
                    continue
                beside = (*best[:attribute], stepped, *best[attribute + 1 :])
                if beside in self._seen:
                    continue
                found = yield from self._score(beside)
                if found is not None and sign * found > sign * value:
                    best, value = [*beside], found


def _first_binary(space: Grouping) -> int | None:
    """The first attribute with two values; None where there is none."""
    return next((at for at, n in enumerate(space.cells.n_values) if n == 2), None)


def _first_weights(space: Grouping) -> list[FloatArray]:
    """Even chances for the values that are drawn at all."""
    cells, binary = space.cells, _first_binary(space)
    n_with = 1 if binary is None else 2
    with_value = np.zeros_like(cells.codes[0]) if binary is None else cells.codes[binary]
    weights = []
    for attribute, n_values in enumerate(cells.n_values):
        is_drawn: BoolArray = np.ones(n_values, dtype=bool)
        if attribute != binary:
            # values with enough users, also together with each value of the binary attribute
            pairs = with_value.astype(np.int64) * n_values + cells.codes[attribute]
            n_users = np.bincount(pairs, cells.n_users, n_with * n_values)
            has_enough = n_users.reshape(n_with, n_values) >= space.min_users
            is_drawn = np.asarray(has_enough.all(axis=0))
        if not is_drawn.any():
            # where the published filter leaves no value at all, its code breaks off
            is_drawn = np.bincount(space.codes[:, attribute], minlength=n_values) > 0
        weights.append(is_drawn / max(int(is_drawn.sum()), 1))
    return weights
