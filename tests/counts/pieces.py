"""Parts and functions for tests of engines; workers load them from here."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError
from fairrec.core.options import spell


@dataclass(frozen=True)
class Piece:
    number: int

    @property
    def name(self) -> str:
        return f"part-{self.number:03}.parquet"


def pieces(n_parts: int) -> list[Piece]:
    return [Piece(number) for number in range(n_parts)]


def sensitive(piece: Piece) -> FloatArray:
    """Numbers of all sizes, whose sum depends on the order."""
    rng = np.random.default_rng(piece.number)
    return rng.normal(size=50) * 10.0 ** rng.integers(-12, 12, size=50)


def added(left: FloatArray, right: FloatArray) -> FloatArray:
    left += right
    return left


def squared(piece: Piece) -> int:
    # the later of two neighbours is often done first
    time.sleep(0.01 * (piece.number % 2 == 0))
    return piece.number**2


def broken(piece: Piece) -> int:
    if piece.number == 3:
        raise KeyError("no such thing")
    return piece.number


def refused(piece: Piece) -> int:
    if piece.number == 3:
        raise InputError(f"row 41 is empty. Leave it out, or give {spell('min_support', 5)}.")
    return piece.number


@dataclass(frozen=True)
class Noted:
    """Notes each call in a file, so that tests count them."""

    folder: Path
    function: object

    def __call__(self, piece: Piece) -> object:
        descriptor = os.open(self.folder / piece.name, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        os.write(descriptor, b"x")
        os.close(descriptor)
        return self.function(piece)

    def calls(self, piece: Piece) -> int:
        file = self.folder / piece.name
        return len(file.read_bytes()) if file.exists() else 0
