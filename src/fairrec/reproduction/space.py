"""The groups that all experiments compare."""

from __future__ import annotations

from collections.abc import Sequence

from fairrec.core.options import AuditOptions
from fairrec.core.threads import available_threads
from fairrec.groups.cells import cells_by
from fairrec.groups.lattice import build_lattice
from fairrec.inputs.users import Attribute
from fairrec.search.space import Space

MIN_SUPPORT = 0.001
"""The smallest group as a share of all users: the paper's, for all methods."""


def full_combinations(
    attributes: Sequence[Attribute], n_users: int, min_support: float = MIN_SUPPORT
) -> Space:
    """The full combinations of the attributes with enough users."""
    cells = cells_by(attributes)
    min_users = AuditOptions(min_support=min_support).min_users(n_users)
    lattice = build_lattice(cells, None, min_users, available_threads())
    return Space(cells, lattice, min_users)
