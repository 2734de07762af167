"""The groups that all experiments compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

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


def by_decade(attribute: Attribute) -> Attribute:
    """The attribute with its numbers by tens; what is no number, such as a missing value, stays."""
    decades = [_decade(str(value)) for value in attribute.values]
    values = tuple(dict.fromkeys(decades))
    code_of_value = np.array([values.index(decade) for decade in decades], dtype=np.int32)
    return replace(
        attribute, codes=code_of_value[attribute.codes], values=values, binning="width 10"
    )


def _decade(value: str) -> str:
    """The tens of a number.

    >>> _decade("27"), _decade("(missing)")
    ('20-29', '(missing)')
    """
    try:
        start = int(float(value) // 10) * 10
    except ValueError:
        return value
    return f"{start}-{start + 9}"
