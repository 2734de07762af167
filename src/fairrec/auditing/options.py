"""What plans, audits otherwise and releases are asked about, beside the options of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Annotated, Any

from fairrec.core.audit_options import AboutOptions, Alpha, AuditOptions
from fairrec.core.errors import InputError, plain
from fairrec.core.kinds import (
    FILE,
    NAMES,
    TABLE,
    TEXT,
    Kind,
    UnfitError,
    number,
    pairs,
    pairs_in,
    share,
)
from fairrec.core.options import (
    GROUPS,
    MODEL,
    PLANNING,
    SEARCH,
    STATISTICS,
    Blank,
    Option,
    Options,
    declared,
    spelled,
)
from fairrec.inputs.table_options import TableOptions
from fairrec.search.options import BUDGET_USERS

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


def _value(given: Any) -> str:
    """A value as text, which all are compared as; a number from Python is one."""
    return str(TEXT.parse(str(given) if isinstance(given, Real) else given))


Attribute = Annotated[
    Any,
    Option(
        NAMES,
        "The attribute to change, or several to change together: gender,age",
        GROUPS,
    ),
]
Reference = Annotated[
    Mapping[str, str] | None,
    Option(
        pairs(_value, "attribute=value, such as gender=M", "ATTRIBUTE=VALUE").or_none(),
        "Change it to this value alone: gender=M",
        GROUPS,
        default="every other value that users have",
    ),
]
OtherModel = Annotated[
    Any,
    Option(
        Kind(lambda given: given, "a folder of a trained run, an address, or a model", "RUN|URL"),
        "Another model for the same people, instead of another attribute",
        MODEL,
    ),
]
BudgetUsers = Annotated[
    int | str | None,
    Option(
        BUDGET_USERS.or_none(),
        "The most users to score, drawn at random: a number or a share, 10%",
        SEARCH,
    ),
]
Margin = Annotated[
    float | None,
    Option(
        share(above=0, most=0.5).or_none(),
        "Stop once the share of users affected is known within so much, such as 0.05 or 5%",
        SEARCH,
    ),
]
LedgerFile = Annotated[
    Path | str | None,
    Option(
        FILE.or_none(),
        "File that keeps all scores paid for; those of changed users lie beside it, a file for "
        "each value",
        SEARCH,
    ),
]


@dataclass(frozen=True)
class CounterfactualOptions(Options):
    """What is changed, and for how many."""

    attribute: Attribute = ()
    reference: Reference = None
    other_model: OtherModel = None
    budget_users: BudgetUsers = None
    margin: Margin = None
    ledger: LedgerFile = None

    def check(self) -> None:
        """Refuse what does not go together."""
        for name in self.attribute:
            if self.attribute.count(name) > 1:
                raise InputError(
                    f"Attribute '{plain(name)}' is named twice in {spelled('attribute')}. Name it "
                    "once."
                )
        if bool(self.attribute) == (self.other_model is not None):
            raise InputError(
                f"Name what is to be changed: {spelled('attribute', ['gender'])}, or "
                f"{spelled('other_model')}, and not both."
            )
        if self.reference is not None and not self.attribute:
            raise InputError(
                f"{spelled('reference')} is a value of {spelled('attribute')}. Leave it out."
            )


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
