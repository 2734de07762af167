"""The options of a trend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from fairrec.core.audit_options import Alpha
from fairrec.core.option_types import Form, Names, UnfitError, split_pairs
from fairrec.core.options import GROUPS, STATISTICS, Option, Options, options

Conditions = frozenset[tuple[str, str]]
"""A group by its conditions, attribute and value as text."""


def _parse_groups(given: Any) -> tuple[Conditions, ...]:
    """Each by its conditions, named once.

    >>> _parse_groups("gender=F,age=56+") == _parse_groups([{"age": "56+", "gender": "F"}])
    True
    """
    is_one = isinstance(given, str | Mapping | frozenset)
    if not is_one and not isinstance(given, list | tuple):
        raise UnfitError(given)
    groups = []
    for group in [given] if is_one else given:
        if not isinstance(group, str | Mapping | frozenset):
            raise UnfitError(group)
        pairs = group if isinstance(group, frozenset) else split_pairs(group).items()
        if not pairs:
            raise UnfitError(group)
        groups.append(frozenset((name, str(value)) for name, value in pairs))
    return tuple(dict.fromkeys(groups))


@options
class TrendOptions(Options):
    """What to follow over releases."""

    group: Annotated[
        Any,
        BeforeValidator(_parse_groups),
        Form(
            "attribute=value, with commas between conditions",
            "GROUP",
            is_list=True,
            is_split=False,
        ),
        Option(
            "A group to follow, chosen before looking: 'gender=F,age=56+'; may be repeated",
            GROUPS,
            default="groups of one attribute, and findings of any release",
        ),
    ] = ()
    metric: Annotated[
        Names, Option("Metrics to follow", STATISTICS, default="those of two releases or more")
    ] = ()
    alpha: Alpha = 0.05
