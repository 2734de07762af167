"""Groupings from plain codes, without tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute


def build_grouping(
    codes: Sequence[Sequence[int] | np.ndarray],
    n_values: Sequence[int] | None = None,
    min_users: int = 1,
    depth: int | None = None,
) -> Grouping:
    """Attributes a, b, c ... with the values 0, 1, 2 ...; only full intersections by default."""
    columns = [np.asarray(column, dtype=np.int32) for column in codes]
    sizes = n_values or [int(column.max()) + 1 for column in columns]
    attributes = [
        Attribute(chr(ord("a") + at), column, tuple(range(size)))
        for at, (column, size) in enumerate(zip(columns, sizes, strict=True))
    ]
    options = AuditOptions(depth=depth or "full", min_support=min_users, engine=Engine(threads=1))
    return Grouping.of(attributes, options)
