"""What to follow over releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fairrec.core.audit_options import Alpha
from fairrec.core.kinds import NAMES, Kind
from fairrec.core.names import UnfitError, pairs_in
from fairrec.core.options import GROUPS, STATISTICS, Option, Options

Conditions = frozenset[tuple[str, str]]
"""A group by its conditions, attribute and value as text."""


def _groups(given: Any) -> tuple[Conditions, ...]:
    """Each by its conditions, named once.

    >>> _groups("gender=F,age=56+") == _groups([{"age": "56+", "gender": "F"}])
    True
    """
    one = isinstance(given, str | Mapping | frozenset)
    groups = []
    for group in [given] if one else given:
        if not isinstance(group, str | Mapping | frozenset):
            raise UnfitError(group)
        pairs = group if isinstance(group, frozenset) else pairs_in(group).items()
        if not pairs:
            raise UnfitError(group)
        groups.append(frozenset((name, str(value)) for name, value in pairs))
    return tuple(dict.fromkeys(groups))


@dataclass(frozen=True)
class TrendOptions(Options):
    """What to follow over releases."""

    group: Annotated[
        Any,
        Option(
            Kind(
                _groups,
                "attribute=value, with commas between conditions",
                "GROUP",
                is_list=True,
                is_split=False,
            ),
            "A group to follow, chosen before looking: 'gender=F,age=56+'; may be repeated",
            GROUPS,
            default="groups of one attribute, and findings of any release",
        ),
    ] = ()
    metric: Annotated[
        Any,
        Option(NAMES, "Metrics to follow", STATISTICS, default="those of two releases or more"),
    ] = ()
    alpha: Alpha = 0.05
