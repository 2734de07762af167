"""What an experiment is: trials to work out, and tables and figures made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.progress import Progress
from fairrec_paper.reproduction.data import TITLES, DataCatalogue, DataSource
from fairrec_paper.reproduction.layout import Outcome
from fairrec_paper.reproduction.options import PAPER, ReproduceOptions
from fairrec_paper.reproduction.protocol import TrainingPlan, paper_protocol, protocol_notes
from fairrec_paper.reproduction.subject import Shelf, Subject
from fairrec_paper.reproduction.trial import Trial

Frames = Mapping[str, pl.DataFrame]
"""The rows of all trials of an experiment, by the kind of trial."""


@dataclass(frozen=True)
class Setting:
    """An experiment's data, models and options.

    Parameters
    ----------
    sources : its data sets, in the order of the paper
    runs, scratch : folders of trained runs, and of worlds made on the way
    """

    options: ReproduceOptions
    sources: tuple[DataSource, ...]
    runs: Path
    scratch: Path
    progress: Progress
    shelf: Shelf = field(default_factory=Shelf)
    catalogue: DataCatalogue | None = None

    def subject(self, source: DataSource, model: str, seed: int | None = None) -> Subject:
        """A recommender on a data set; it is loaded when it is first needed.

        Parameters
        ----------
        seed : of its training; by default the first
        """
        options = self.options
        training = TrainingPlan(
            quick=options.quick,
            seed=options.trainings[0] if seed is None else seed,
            data_seed=options.seed,
            protocol=paper_protocol(source.name) if options.protocol == PAPER else None,
        )
        return Subject(source, model, self.runs, training, self.shelf)

    def trainings(self) -> list[tuple[Subject, dict[str, Any]]]:
        """Every trained model on every data set with every training seed, and its labels."""
        return [
            (
                self.subject(source, model, seed),
                {"dataset": source.name, "model": model, "training": seed},
            )
            for source in self.sources
            for model in self.options.models
            if model != "taste"
            for seed in self.options.trainings
        ]

    def under(self, protocol: str) -> Setting:
        """The same by another protocol."""
        if protocol == self.options.protocol or self.catalogue is None:
            return self
        sources = (
            self.catalogue.get(source.name, self.progress, protocol) for source in self.sources
        )
        options = replace(self.options, protocol=protocol)
        return replace(self, options=options, sources=tuple(sources))

    def subjects(self) -> list[tuple[Subject, dict[str, str]]]:
        """Every model on every data set, and how its rows are labelled."""
        return [
            (self.subject(source, model), {"dataset": source.name, "model": model})
            for source in self.sources
            for model in self.options.models
        ]

    def one_subject(self, source: DataSource, preferred: str) -> tuple[Subject, dict[str, str]]:
        """The preferred model on a data set, or the first one where that is not tested."""
        models = self.options.models
        model = preferred if preferred in models else models[0]
        return self.subject(source, model), {"dataset": source.name, "model": model}

    def title_of(self, dataset: str) -> str:
        """What stands for a data set of the paper."""
        return next(source.title for source in self.sources if source.name == dataset)

    def with_titles(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows with a column `data`: what stands for each `dataset`."""
        return rows.with_columns(data=pl.col("dataset").map_elements(self.title_of, pl.String))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of any number should know of the protocol and the data under it."""
        if self.options.protocol != PAPER:
            return ()
        return tuple(
            f"{TITLES[source.name]} by the paper's protocol: {note}."
            for source in self.sources
            for note in protocol_notes(source.bundle)
        )

    @property
    def title(self) -> str:
        """All data sets, in words, and the protocol where it is the paper's."""
        by_paper = "; the paper's protocol" if self.options.protocol == PAPER else ""
        return f"{self._data_title}{by_paper}"

    @property
    def _data_title(self) -> str:
        shapes = [source for source in self.sources if source.is_synthetic]
        if len(shapes) < 2:
            return "; ".join(source.title for source in self.sources)
        real = [source.title for source in self.sources if not source.is_synthetic]
        names = ", ".join(TITLES[source.name] for source in shapes)
        return "; ".join([*real, f"synthetic shapes of {names}"])


@dataclass(frozen=True, slots=True)
class Experiment:
    """A registered experiment.

    Parameters
    ----------
    label : in the paper
    datasets : of the paper, as far as it says; none where a world is made for the purpose
    plan : all trials, in the order of work
    outcome : made from the rows of the trials
    needs_models : whether the models are trained
    made_for : in words, the world that is made where it uses no data set
    """

    name: str
    label: str
    title: str
    datasets: tuple[str, ...]
    plan: Callable[[Setting], Sequence[Trial]]
    outcome: Callable[[Setting, Frames], Outcome]
    needs_models: bool = True
    made_for: str = ""
