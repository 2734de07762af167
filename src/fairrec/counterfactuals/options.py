"""The options of a counterfactual."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from fairrec.core.errors import InputError, plain
from fairrec.core.option_types import Form, Names, Pairs
from fairrec.core.options import GROUPS, SEARCH, Option, Options, grouped, options, spell
from fairrec.scoring.options import Features
from fairrec.search.options import BudgetUsers, ScorerIdentity


def _as_text(given: Any) -> Any:
    """A value as text, which all are compared as; a number from Python is one."""
    return str(given) if isinstance(given, Real) else given


@grouped("sample")
@options
class Sample(Options):
    """How many users are scored, and the inputs of the model."""

    budget_users: Annotated[
        BudgetUsers | None,
        Option("The most users to score, a random sample: a number or a share, 10%", SEARCH),
    ] = None
    ledger: Annotated[
        Path | None,
        Option(
            "File that keeps all scores paid for; those of changed users lie beside it, a file for "
            "each value",
            SEARCH,
        ),
    ] = None
    scorer_identity: ScorerIdentity = ""
    features: Features = None


@options
class CounterfactualOptions(Sample):
    """What is changed, and for how many."""

    attribute: Annotated[
        Names,
        Option("The attribute to change, or several to change together: gender,age", GROUPS),
    ] = ()
    reference: Annotated[
        Annotated[
            Mapping[str, Annotated[str, BeforeValidator(_as_text)]],
            Pairs,
            Form("attribute=value, such as gender=M", "ATTRIBUTE=VALUE", is_list=True),
        ]
        | None,
        Option(
            "Change it to this value alone: gender=M",
            GROUPS,
            default="every other value that users have",
        ),
    ] = None

    def __post_init__(self) -> None:
        for name in self.attribute:
            if self.attribute.count(name) > 1:
                raise InputError(
                    f"Attribute '{plain(name)}' is named twice in {spell('attribute')}. Name it "
                    "once."
                )
        if not self.attribute:
            raise InputError(f"Name what is to be changed: {spell('attribute', ['gender'])}")
