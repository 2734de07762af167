"""What a counterfactual changes, and how many users it asks about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Annotated, Any

from fairrec.core.errors import InputError, plain
from fairrec.core.kinds import FILE, NAMES, TEXT, Kind, pairs, share
from fairrec.core.options import GROUPS, MODEL, SEARCH, Option, Options, spelled
from fairrec.search.options import BUDGET_USERS


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
