"""The options of a search, and how much it may cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from fairrec.core.option_types import Form, Number, Pairs, parse_number, parse_percentage
from fairrec.core.options import MODEL, SEARCH, Option, Options, grouped, options

if TYPE_CHECKING:
    from fairrec.groups.grouping import Grouping


@dataclass(frozen=True, slots=True)
class Budget:
    """The most users and the most seconds; None for no limit."""

    users: int | None = None
    seconds: float | None = None


def _parse_budget(given: Any) -> int | str:
    if isinstance(given, str) and given.strip().endswith("%"):
        parse_percentage(given)
        return given.strip()
    number = parse_number(given)
    if not math.isfinite(number) or number != int(number) or number < 1:
        raise ValueError("no number of users")
    return int(number)


BudgetUsers = Annotated[
    int | str,
    BeforeValidator(_parse_budget),
    Form("a number of users from 1, or a percentage above 0% and up to 100%", "N|SHARE%"),
]


def users_allowed(budget: int | str | None, n_users: int) -> int | None:
    """A number of users from a number or a share such as "10%".

    >>> users_allowed("10%", 6040), users_allowed(500, 6040)
    (604, 500)
    """
    if isinstance(budget, str):
        return max(1, math.floor(parse_percentage(budget) * n_users + 1e-9))
    return budget


REFERENCE_OF_BUDGET = 0.2
REFERENCE_WITHOUT_BUDGET = 0.1
ENOUGH_REFERENCE = 2_000
"""Users of a sample that shows what there is to see in large groups."""


ScorerIdentity = Annotated[
    str,
    Option(
        "With a ledger: names the model and its version, so that its scores are never taken for "
        "another's",
        MODEL,
        default="as the model names itself",
    ),
]


@grouped("search")
@options
class Search(Options):
    """How users are chosen for scoring."""

    name: Annotated[
        str,
        Form("a searcher's name", "NAME"),
        Option("Score only the users a searcher asks for; see fairrec list searchers", SEARCH),
    ] = "exact"
    budget_users: Annotated[
        BudgetUsers | None,
        Option("The most users to score: a number or a share, 10%", SEARCH),
    ] = None
    budget_seconds: Annotated[
        Annotated[Number, Field(gt=0)] | None,
        Option("The longest it may take", SEARCH),
    ] = None
    hyper: Annotated[
        Mapping[str, Number],
        Pairs,
        Form("name=number, such as alpha=0.09", "NAME=NUMBER", is_list=True),
        Option("Hyper-parameters of the searcher by name; see fairrec list searchers", SEARCH),
    ] = field(default_factory=dict)
    reference: Annotated[
        Annotated[Number, Field(gt=0, le=1)] | None,
        Option(
            "Users scored first, at random among all, which tests against chance rest on: a share "
            "of the budget, or of all users where there is no budget in users",
            SEARCH,
            default=f"{REFERENCE_OF_BUDGET:g} of the budget, more where most groups are too "
            f"large for it; {REFERENCE_WITHOUT_BUDGET:g} of all users without a budget",
        ),
    ] = None
    ledger: Annotated[
        Path | None,
        Option(
            "File that keeps all scores paid for, and gives them back to the next search", SEARCH
        ),
    ] = None

    scorer_identity: ScorerIdentity = ""

    def __post_init__(self) -> None:
        from fairrec.search.searcher import hyper_parameters

        hyper_parameters(self.name, self.hyper)

    def make_budget(self, space: Grouping) -> Budget:
        """The budget for these users and groups."""
        users = users_allowed(self.budget_users, space.n_users)
        return Budget(users if users is None else min(users, space.n_users), self.budget_seconds)

    def n_reference(self, space: Grouping) -> int:
        """Users scored first, at random among all."""
        if self.name == "exact":
            # the users scored when a budget ends are a random sample
            return space.n_users
        users = self.make_budget(space).users
        if users is None:
            share = self.reference if self.reference is not None else REFERENCE_WITHOUT_BUDGET
            return math.ceil(share * space.n_users)
        if self.reference is not None:
            return math.ceil(self.reference * users)
        # nothing to add while half of the groups can be completed, all where none can
        of_large = min((2 * _share_out_of_reach(space, users) - 1) * users, ENOUGH_REFERENCE)
        return math.ceil(max(REFERENCE_OF_BUDGET * users, of_large))


def _share_out_of_reach(space: Grouping, users: int) -> float:
    """Of all groups, those of which a search cannot score two to the last user.

    Only groups that are scored to the last user, or the sample, are tested: where a search cannot
    complete groups, the sample alone can find anything.
    """
    left = (1 - REFERENCE_OF_BUDGET) * users
    return float((2 * space.lattice.n_users > left).mean())
