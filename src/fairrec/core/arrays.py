"""Names for the kinds of arrays that travel between stages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.int32]
"""Positions in a list of distinct things: values of an attribute, items, cells."""
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]
ROUNDING = 1e-9
"""Sums in another order differ in their last digits: what is relatively nearer is equal."""


def finite_or_none(value: float) -> float | None:
    """A number as JSON has it: None where it is not known, or without a limit."""
    return float(value) if math.isfinite(value) else None
