"""Sums over parts, whose rounding depends on how many there are and on nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")


class Tree(Generic[V]):
    """Adds values as they come, always two sums of equally many.

    The shape is that of a binary counter, so it depends on the number of values alone, and no
    more sums are kept than that number has digits. What a value is does not matter: a result
    here, or one that a worker is still making.

    >>> tree = Tree(lambda left, right: f"({left}{right})")
    >>> for value in "abcde":
    ...     tree.push(value)
    >>> tree.total()
    '(((ab)(cd))e)'
    """

    def __init__(self, add: Callable[[V, V], V]) -> None:
        self._add = add
        self._sums: list[tuple[int, V]] = []

    def push(self, value: V) -> None:
        """Add the next value."""
        height = 0
        while self._sums and self._sums[-1][0] == height:
            value = self._add(self._sums.pop()[1], value)
            height += 1
        self._sums.append((height, value))

    def total(self) -> V:
        """The sum of all values; nothing is left afterwards."""
        if not self._sums:
            raise ValueError("there is nothing to add")
        total = self._sums.pop()[1]
        while self._sums:
            total = self._add(self._sums.pop()[1], total)
        return total
