"""What is compared in a comparison of searchers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fairrec.core.audit_options import AuditOptions, MinSupport, Seed, Threads
from fairrec.core.errors import InputError
from fairrec.core.kinds import (
    NAMES,
    SWITCH,
    Kind,
    UnfitError,
    names_in,
    number,
    pairs,
    pairs_in,
    percentage,
    to_number,
    whole,
)
from fairrec.core.options import SEARCH, Option, Options, spelled

_finite = number().parse
_by_name = pairs(_finite, "name=number")

BUDGETS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of the users of eligible full combinations."""
PRESETS: dict[str, dict[str, float]] = {"adaptive": {"findings": 0.0}}
"""Hyper-parameters unless others are given: only the gap is asked for here."""


def _budgets(given: Any) -> tuple[float, ...]:
    shares = set()
    for part in names_in(given) if isinstance(given, str) else given:
        try:
            is_percentage = isinstance(part, str) and part.strip().endswith("%")
            share = percentage(part) if is_percentage else float(to_number(part))
        except (TypeError, ValueError):
            raise UnfitError(part) from None
        if not 0 < share <= 1:
            raise UnfitError(part)
        shares.add(share)
    return tuple(sorted(shares))


def _hyper(given: Any) -> dict[str, dict[str, float]]:
    """Values by searcher and name; `dpso.alpha=0.1` as text."""
    if isinstance(given, Mapping):
        return {searcher: _by_name.parse(values) for searcher, values in pairs_in(given).items()}
    found: dict[str, dict[str, float]] = {}
    for key, value in pairs_in(given).items():
        try:
            searcher, name = key.split(".")
            found.setdefault(searcher, {})[name] = _finite(value)
        except ValueError:
            raise UnfitError(f"{key}={value}") from None
    return found


@dataclass(frozen=True)
class SearchBenchOptions(Options):
    """What is compared."""

    searchers: Annotated[tuple[str, ...], Option(NAMES, "Searchers to compare", SEARCH)] = (
        *("adaptive", "dpso", "pso", "fairas", "random"),
    )
    n_seeds: Annotated[
        int, Option(whole(1), "Searches of each searcher, with the seeds from seed on", SEARCH)
    ] = 10
    budgets: Annotated[
        tuple[float, ...],
        Option(
            Kind(
                _budgets,
                "shares above 0 and up to 1 or percentages, such as 0.02,10%",
                "SHARES",
                is_list=True,
            ),
            "Shares of the users of eligible groups",
            SEARCH,
            default=",".join(f"{share:.0%}" for share in BUDGETS),
        ),
    ] = BUDGETS
    hyper: Annotated[
        Mapping[str, Mapping[str, float]],
        Option(
            Kind(_hyper, "searcher.name=number, such as dpso.alpha=0.1", "NAME=NUMBER", True),
            "Hyper-parameters by searcher and name: dpso.alpha=0.1",
            SEARCH,
        ),
    ] = field(default_factory=dict)
    together: Annotated[
        bool, Option(SWITCH, "One search for all metrics; otherwise one for each", SEARCH)
    ] = False
    min_support: MinSupport = AuditOptions.min_support
    seed: Seed = 0
    threads: Threads = None

    def check(self) -> None:
        """Refuse searchers and hyper-parameters that are not there."""
        from fairrec.search.searcher import SEARCHERS

        object.__setattr__(self, "searchers", tuple(dict.fromkeys(self.searchers)))
        if not self.searchers:
            raise InputError(
                f"No searcher is named. Example: {spelled('searchers', ('adaptive', 'dpso'))}"
            )
        for name in self.searchers:
            SEARCHERS[name]
            self.searcher_parameters(name)
        for name in self.hyper:
            SEARCHERS[name]
            if name not in self.searchers:
                raise InputError(
                    f"{spelled('hyper')}: {name} is not among the searchers compared "
                    f"({', '.join(self.searchers)}). Add it to {spelled('searchers')} or leave it "
                    "out."
                )
        if not self.budgets:
            raise InputError(f"No budget is named. Example: {spelled('budgets', ('2%', '10%'))}")

    def as_audit_options(self) -> AuditOptions:
        """What an audit has too: support, seed and threads."""
        return AuditOptions(min_support=self.min_support, seed=self.seed, threads=self.threads)

    def searcher_parameters(self, name: str) -> object:
        """The hyper-parameters of a searcher."""
        from fairrec.search.searcher import hyper_parameters

        return hyper_parameters(name, {**PRESETS.get(name, {}), **self.hyper.get(name, {})})
