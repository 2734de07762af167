"""The options of a search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from fairrec.core.errors import InputError
from fairrec.core.kinds import FILE, NAME, number, one_of, pairs
from fairrec.core.options import SEARCH, Option, Options, spelled
from fairrec.search.budget import BUDGET_USERS, Budget, paper_seconds, users_allowed

if TYPE_CHECKING:
    from fairrec.groups.grouping import Grouping

REFERENCE_OF_BUDGET = 0.2
REFERENCE_WITHOUT_BUDGET = 0.1
ENOUGH_REFERENCE = 2_000
"""Users of a sample that shows what there is to see in large groups."""


Search = Annotated[
    str,
    Option(
        replace(NAME, expected="a searcher's name"),
        "Score only the users a searcher asks for; see fairrec list searchers",
        SEARCH,
    ),
]


@dataclass(frozen=True)
class SearchOptions(Options):
    """How users are chosen for scoring."""

    name: Search = "exact"
    budget_users: Annotated[
        int | str | None,
        Option(BUDGET_USERS.or_none(), "The most users to score: a number or a share, 10%", SEARCH),
    ] = None
    budget_seconds: Annotated[
        float | None, Option(number(above=0).or_none(), "The longest it may take", SEARCH)
    ] = None
    budget: Annotated[
        Literal["paper"] | None,
        Option(
            one_of("paper").or_none(),
            "'paper' for the fixed time of the FairRec paper, 0.005 s x (users + combinations)",
            SEARCH,
        ),
    ] = None
    hyper: Annotated[
        Mapping[str, float],
        Option(
            pairs(number().parse, "name=number, such as alpha=0.09", "NAME=NUMBER"),
            "Hyper-parameters of the searcher by name; see fairrec list searchers",
            SEARCH,
        ),
    ] = field(default_factory=dict)
    reference: Annotated[
        float | None,
        Option(
            number(above=0, most=1).or_none(),
            "Users scored first, at random among all, which tests against chance rest on: a share "
            "of the budget, or of all users where there is no budget in users",
            SEARCH,
            default=f"{REFERENCE_OF_BUDGET:g} of the budget, more where most groups are too "
            f"large for it; {REFERENCE_WITHOUT_BUDGET:g} of all users without a budget",
        ),
    ] = None
    ledger: Annotated[
        Path | str | None,
        Option(
            FILE.or_none(),
            "File that keeps all scores paid for, and gives them back to the next search",
            SEARCH,
        ),
    ] = None

    def check(self) -> None:
        """Refuse unknown names, and two times at once."""
        from fairrec.search.searcher import hyper_parameters

        hyper_parameters(self.name, self.hyper)
        if self.budget is not None and self.budget_seconds is not None:
            raise InputError(
                f"{spelled('budget', 'paper')} is a time by itself. Leave out "
                f"{spelled('budget_seconds')}."
            )

    def budget_in(self, space: Grouping) -> Budget:
        """The budget for so many users and groups."""
        seconds = self.budget_seconds
        if self.budget == "paper":
            seconds = paper_seconds(space.n_users, space.n_combinations)
        users = users_allowed(self.budget_users, space.n_users)
        return Budget(users if users is None else min(users, space.n_users), seconds)

    def n_reference(self, space: Grouping) -> int:
        """Users scored first, at random among all."""
        if self.name == "exact":
            # whoever is scored when a budget ends is a random sample
            return space.n_users
        users = self.budget_in(space).users
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
