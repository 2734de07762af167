"""The options of a plan beside those of the audit it is for, and all that it may set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fairrec.core.audit_options import AboutOptions, AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.kinds import TABLE, number
from fairrec.core.options import PLANNING, Blank, Option, Options, declared, spelled
from fairrec.inputs.table_options import TableOptions

_LARGEST = 1e50
"""Degrees of freedom take the fourth power of a standard deviation."""

Pilot = Annotated[
    Any,
    Option(
        TABLE,
        "Values per user from which mean and standard deviation are taken: per_user.parquet of an "
        "earlier audit",
        PLANNING,
    ),
]
Mean = Annotated[
    float | None,
    Option(
        number(least=-_LARGEST, most=_LARGEST).or_none(),
        "The assumed mean, if there is no pilot",
        PLANNING,
    ),
]
Sd = Annotated[
    float | None,
    Option(
        number(above=0, most=_LARGEST).or_none(),
        "The assumed standard deviation among users, if there is no pilot",
        PLANNING,
        default="1, so that harm is in standard deviations",
    ),
]


@dataclass(frozen=True)
class PlanOptions(Options):
    """How far users are expected to differ, before anything is measured."""

    pilot: Pilot = None
    mean: Mean = None
    sd: Sd = None

    def check(self) -> None:
        """Refuse two sources of the same number, and a mean that nothing can be compared with."""
        if self.pilot is not None and not (self.mean is None and self.sd is None):
            raise InputError(
                f"{spelled('pilot')} has mean and standard deviation of its own. Leave out "
                f"{spelled('mean' if self.sd is None else 'sd')}, or the pilot."
            )
        if self.mean is not None and self.sd is None:
            raise InputError(
                f"{spelled('mean')} needs the standard deviation among users too: "
                f"{spelled('sd', Blank('NUMBER'))}"
            )


AUDITED: Mapping[str, Option] = {
    **declared(TableOptions),
    **declared(AuditOptions),
    **declared(AboutOptions),
}
"""The options of an audit that a settings file may set."""
SETTINGS: Mapping[str, Option] = {**AUDITED, **declared(PlanOptions)}
"""All that it may set."""
NOT_PLANNED = ("threads", "max_memory", *declared(AboutOptions))
"""Options of an audit that no number depends on."""
