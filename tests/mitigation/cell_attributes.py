"""Two attributes by hand, and their full combinations."""

from __future__ import annotations

import numpy as np

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute


def attributes_of(codes, n_values=(2, 3)) -> list[Attribute]:
    """`a` with values a0 and a1, `b` with values b0, b1 and b2."""
    return [
        Attribute(name, np.asarray(column, dtype=np.int32), tuple(f"{name}{v}" for v in range(n)))
        for name, column, n in zip("ab", codes, n_values, strict=True)
    ]


def full_grouping(attributes: list[Attribute], min_users: int = 1) -> Grouping:
    """Their intersections with enough users."""
    return Grouping.of(
        attributes, AuditOptions(depth="full", min_support=min_users, engine=Engine(threads=1))
    )
