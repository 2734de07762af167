"""The groups that all experiments compare."""

from __future__ import annotations

from collections.abc import Sequence

from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute

MIN_SUPPORT = 0.001
"""The smallest group as a share of all users: the paper's, for all methods."""


def full_combinations(
    attributes: Sequence[Attribute], min_support: float = MIN_SUPPORT
) -> Grouping:
    """The intersections of all attributes with enough users."""
    return Grouping.of(attributes, AuditOptions(depth="full", min_support=min_support))
