"""The options of a plan, and those of an audit that a file may set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from fairrec.core.audit_options import About, AuditOptions, Engine
from fairrec.core.errors import InputError
from fairrec.core.option_types import Number, Table
from fairrec.core.options import PLANNING, Blank, Option, Options, list_options, options, spell
from fairrec.inputs.table_options import COUNTED, TableOptions

_LARGEST = 1e50
"""Degrees of freedom take the fourth power of a standard deviation."""


@options
class PlanOptions(Options):
    """How far users are expected to differ, before anything is measured."""

    pilot: Annotated[
        Table | None,
        Option(
            "Values per user from which mean and standard deviation are taken: per_user.parquet of "
            "an earlier audit",
            PLANNING,
        ),
    ] = None
    mean: Annotated[
        Annotated[Number, Field(ge=-_LARGEST, le=_LARGEST)] | None,
        Option("The assumed mean, if there is no pilot", PLANNING),
    ] = None
    sd: Annotated[
        Annotated[Number, Field(gt=0, le=_LARGEST)] | None,
        Option(
            "The assumed standard deviation among users, if there is no pilot",
            PLANNING,
            default="1, so that harm is in standard deviations",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.pilot is not None and not (self.mean is None and self.sd is None):
            raise InputError(
                f"{spell('pilot')} has mean and standard deviation of its own. Leave out "
                f"{spell('mean' if self.sd is None else 'sd')}, or the pilot."
            )
        if self.mean is not None and self.sd is None:
            raise InputError(
                f"{spell('mean')} needs the standard deviation among users too: "
                f"{spell('sd', Blank('NUMBER'))}"
            )


_RESOURCES = {name: list_options(Engine)[name] for name in ("threads", "max_memory")}
AUDITED: Mapping[str, Option] = {
    **{name: one for name, one in list_options(TableOptions).items() if name not in COUNTED},
    **list_options(AuditOptions),
    **_RESOURCES,
    **list_options(About),
}
"""The options of an audit that a settings file may set."""
SETTINGS: Mapping[str, Option] = {**AUDITED, **list_options(PlanOptions)}
"""All that it may set."""
NOT_PLANNED = (*_RESOURCES, *list_options(About))
"""Options of an audit that no number depends on."""
