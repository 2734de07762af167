"""What is compared in a comparison of searchers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from fairrec.core.audit_options import AuditOptions, Engine, Seed, Threads
from fairrec.core.errors import InputError
from fairrec.core.option_types import (
    Form,
    Names,
    Number,
    Share,
    Support,
    Switch,
    UnfitError,
    Whole,
    split_names,
    split_pairs,
)
from fairrec.core.options import SEARCH, Option, Options, list_options, options, spell

BUDGETS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of the users of eligible full combinations."""
PRESETS: dict[str, dict[str, float]] = {"adaptive": {"findings": 0.0}}
"""Hyper-parameters unless others are given: only the gap is asked for here."""


def _parse_hyper(given: Any) -> dict[str, Any]:
    """Values by searcher and name; `dpso.alpha=0.1` as text."""
    pairs = split_pairs(given)
    if isinstance(given, Mapping):
        return {searcher: split_pairs(values) for searcher, values in pairs.items()}
    found: dict[str, dict[str, Any]] = {}
    for key, value in pairs.items():
        searcher, dot, name = key.partition(".")
        if not dot or "." in name:
            raise UnfitError(f"{key}={value}")
        found.setdefault(searcher, {})[name] = value
    return found


def _sort(shares: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(sorted(set(shares)))


@options
class SearchBenchOptions(Options):
    """What is compared."""

    searchers: Annotated[Names, Option("Searchers to compare", SEARCH)] = (
        *("adaptive", "dpso", "pso", "fairas", "random"),
    )
    n_seeds: Annotated[
        Whole,
        Field(ge=1),
        Option("Searches of each searcher, with the seeds from seed on", SEARCH),
    ] = 10
    budgets: Annotated[
        tuple[Annotated[Share, Field(gt=0, le=1)], ...],
        BeforeValidator(lambda given: split_names(given) if isinstance(given, str) else given),
        AfterValidator(_sort),
        Form("shares above 0 and up to 1 or percentages, such as 0.02,10%", "SHARES", is_list=True),
        Option(
            "Shares of the users of eligible groups",
            SEARCH,
            default=",".join(f"{share:.0%}" for share in BUDGETS),
        ),
    ] = BUDGETS
    hyper: Annotated[
        Mapping[str, Mapping[str, Number]],
        BeforeValidator(_parse_hyper),
        Form("searcher.name=number, such as dpso.alpha=0.1", "NAME=NUMBER", is_list=True),
        Option("Hyper-parameters by searcher and name: dpso.alpha=0.1", SEARCH),
    ] = field(default_factory=dict)
    together: Annotated[
        Switch, Option("One search for all metrics; otherwise one for each", SEARCH)
    ] = False
    min_support: Annotated[Support | None, list_options(AuditOptions)["min_support"]] = None
    seed: Seed = 0
    threads: Threads = None

    def __post_init__(self) -> None:
        from fairrec.search.searcher import SEARCHERS

        object.__setattr__(self, "searchers", tuple(dict.fromkeys(self.searchers)))
        if not self.searchers:
            raise InputError(
                f"No searcher is named. Example: {spell('searchers', ('adaptive', 'dpso'))}"
            )
        for name in self.searchers:
            SEARCHERS[name]
            self.searcher_parameters(name)
        for name in self.hyper:
            SEARCHERS[name]
            if name not in self.searchers:
                raise InputError(
                    f"{spell('hyper')}: {name} is not among the searchers compared "
                    f"({', '.join(self.searchers)}). Add it to {spell('searchers')} or leave it "
                    "out."
                )
        if not self.budgets:
            raise InputError(f"No budget is named. Example: {spell('budgets', ('2%', '10%'))}")

    def as_audit_options(self) -> AuditOptions:
        """What an audit has too: support, seed and threads."""
        return AuditOptions(
            min_support=self.min_support, seed=self.seed, engine=Engine(threads=self.threads)
        )

    def searcher_parameters(self, name: str) -> object:
        """The hyper-parameters of a searcher."""
        from fairrec.search.searcher import hyper_parameters

        return hyper_parameters(name, {**PRESETS.get(name, {}), **self.hyper.get(name, {})})
