"""How experiments are run, and what is compared in a comparison of searchers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from fairrec.core.audit_options import AuditOptions, Engine, Seed, Threads
from fairrec.core.errors import InputError, unknown_name
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
from fairrec_paper.models.options import DEEP_MODELS

OURS, PAPER = "ours", "paper"
SPLIT = BeforeValidator(lambda given: split_names(given) if isinstance(given, str) else given)
MODEL_TITLES = {
    "wide_deep": "Wide&Deep",
    "deepfm": "DeepFM",
    "dcn": "DCN",
    "fgcnn": "FGCNN",
    "taste": "popularity and taste (no training)",
}
PAPER_MODELS = DEEP_MODELS


@options
class ReproduceOptions(Options):
    """How experiments are run."""

    models: Annotated[
        Names, Field(min_length=1), Option("Recommenders to test; taste is without training")
    ] = PAPER_MODELS
    protocol: Annotated[
        Literal["ours", "paper"],
        Option("How data are taken and models trained: our way, or the paper's"),
    ] = "ours"
    training_seeds: Annotated[
        Annotated[
            tuple[Annotated[Whole, Field(ge=0, le=2**32 - 1)], ...],
            Field(min_length=1),
            SPLIT,
            AfterValidator(lambda seeds: tuple(dict.fromkeys(seeds))),
            Form("whole numbers from 0, with commas between them", "N,N", is_list=True),
        ]
        | None,
        Option(
            "Each model is trained with each of these seeds, on the same targets and candidates",
            default="the seed",
        ),
    ] = None
    n_seeds: Annotated[
        Whole, Field(ge=1), Option("Searches of each method, with the seeds from 0 on")
    ] = 5
    permutations: Annotated[
        Whole,
        Field(ge=1),
        Option("How often values are shuffled across users, to test gaps against chance"),
    ] = 1000
    quick: Annotated[
        Switch, Option("Small synthetic data and little effort, to see that all of it runs")
    ] = False
    seed: Seed = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", tuple(dict.fromkeys(self.models)))
        for model in self.models:
            if model not in MODEL_TITLES:
                raise unknown_name("model", model, MODEL_TITLES)

    @property
    def trainings(self) -> tuple[int, ...]:
        """The seeds of the trainings; experiments that need one model take the first."""
        return self.training_seeds or (self.seed,)

    @property
    def seeds(self) -> range:
        """The seeds of the searches."""
        return range(self.n_seeds)


QUICK = ReproduceOptions(
    n_seeds=2, models=("dcn", "taste"), permutations=49, training_seeds=(0, 1), quick=True
)


BUDGETS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of the users of eligible full intersections."""
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


@options
class SearchBenchOptions(Options):
    """What is compared."""

    searchers: Annotated[Names, Field(min_length=1), Option("Searchers to compare", SEARCH)] = (
        *("adaptive", "dpso", "pso", "fairas", "random"),
    )
    n_seeds: Annotated[
        Whole,
        Field(ge=1),
        Option("Searches of each searcher, with the seeds from seed on", SEARCH),
    ] = 10
    budgets: Annotated[
        tuple[Annotated[Share, Field(gt=0, le=1)], ...],
        Field(min_length=1),
        SPLIT,
        AfterValidator(lambda shares: tuple(sorted(set(shares)))),
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
    min_support: Annotated[Support | None, list_options(AuditOptions)["min_support"]] = None
    seed: Seed = 0
    threads: Threads = None

    def __post_init__(self) -> None:
        from fairrec.search.searcher import SEARCHERS

        object.__setattr__(self, "searchers", tuple(dict.fromkeys(self.searchers)))
        for name in self.searchers:
            SEARCHERS[name]
            self.searcher_parameters(name)
        if others := {*self.hyper} - {*self.searchers}:
            raise InputError(
                f"{spell('hyper')}: {', '.join(others)} is not among the searchers compared "
                f"({', '.join(self.searchers)})."
            )

    def as_audit_options(self) -> AuditOptions:
        """What an audit has too: support, seed and threads."""
        return AuditOptions(
            min_support=self.min_support, seed=self.seed, engine=Engine(threads=self.threads)
        )

    def searcher_parameters(self, name: str) -> object:
        """The hyper-parameters of a searcher."""
        from fairrec.search.searcher import hyper_parameters

        return hyper_parameters(name, {**PRESETS.get(name, {}), **self.hyper.get(name, {})})
