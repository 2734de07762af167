"""Two attributes by hand, and their full combinations."""

from __future__ import annotations

import numpy as np

from fairrec.groups.cells import Cells, cells_of
from fairrec.inputs.users import Attribute


def attributes_of(codes, n_values=(2, 3)) -> list[Attribute]:
    """`a` with values a0 and a1, `b` with values b0, b1 and b2."""
    return [
        Attribute(name, np.asarray(column, dtype=np.int32), tuple(f"{name}{v}" for v in range(n)))
        for name, column, n in zip("ab", codes, n_values, strict=True)
    ]


def cells_from(attributes: list[Attribute]) -> Cells:
    """The full combinations that occur."""
    return cells_of([a.codes for a in attributes], [len(a.values) for a in attributes])
