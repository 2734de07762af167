"""The options of a search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Literal

from fairrec.core.errors import InputError
from fairrec.groups.grouping import Grouping
from fairrec.search.budget import Budget, paper_seconds, users_allowed
from fairrec.search.searcher import SEARCHERS, hyper_parameters

REFERENCE_OF_BUDGET = 0.2
REFERENCE_WITHOUT_BUDGET = 0.1


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How users are chosen for scoring.

    Parameters
    ----------
    name : a registered searcher
    budget_users : the most users to score: a number, or a share such as "10%"
    budget_seconds : the longest a search may take
    budget : "paper" for the fixed time of the FairRec paper
    hyper : hyper-parameters of the searcher by name
    reference : users scored first, at random among all, which tests against chance rest on: a
        share of the budget, or of all users where there is no budget in users
    ledger : a file that keeps all scores paid for, and gives them back to the next search
    """

    name: str = "exact"
    budget_users: int | str | None = None
    budget_seconds: float | None = None
    budget: Literal["paper"] | None = None
    hyper: Mapping[str, float] = field(default_factory=dict)
    reference: float | None = None
    ledger: Path | str | None = None

    def __post_init__(self) -> None:
        SEARCHERS[self.name]
        if self.ledger is not None:
            object.__setattr__(self, "ledger", Path(self.ledger))
        hyper_parameters(self.name, self.hyper)
        users_allowed(self.budget_users, 1)
        seconds = self.budget_seconds
        if seconds is not None and not (isinstance(seconds, Real) and 0 < seconds < math.inf):
            raise InputError(f"--budget-seconds {seconds} is not possible. Give more than 0.")
        if self.budget not in (None, "paper"):
            raise InputError(
                f"--budget {self.budget} is not known. Give 'paper', or --budget-users or "
                "--budget-seconds with a number."
            )
        if self.budget is not None and self.budget_seconds is not None:
            raise InputError("--budget paper is a time by itself. Leave out --budget-seconds.")
        if self.reference is not None and not 0 < self.reference <= 1:
            raise InputError(
                f"--reference {self.reference:g} is not possible. Give a share above 0, up to 1."
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
            # whoever is scored when a budget ends is a fair sample
            return space.n_users
        users = self.budget_in(space).users
        if users is None:
            share = self.reference if self.reference is not None else REFERENCE_WITHOUT_BUDGET
            return math.ceil(share * space.n_users)
        share = self.reference if self.reference is not None else REFERENCE_OF_BUDGET
        return math.ceil(share * users)
