"""What is tested: a recommender on a data set, trained once and loaded when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError
from fairrec.core.files import file_sum
from fairrec.core.options import spelled
from fairrec.core.progress import Progress
from fairrec.core.threads import available_threads
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.reproduction.data_source import DataSource
from fairrec.reproduction.recommender import (
    PositionScorer,
    Recommender,
    recommender_by_taste,
    recommender_of_run,
    with_candidates,
)
from fairrec.reproduction.space import by_decade, full_combinations
from fairrec.reproduction.training_plan import TrainingPlan
from fairrec.scoring.ledger.ledger import Ledger
from fairrec.search.measure import Measure

if TYPE_CHECKING:
    from fairrec.models.runs.record import RunRecord

WARM_UP_LISTS = 64


class Shelf:
    """Room for one loaded subject: the next one takes its place, so that memory stays flat."""

    def __init__(self) -> None:
        self._loaded: Subject | None = None

    def take(self, subject: Subject) -> None:
        """Let go of what was loaded before."""
        if self._loaded is not None and self._loaded is not subject:
            self._loaded.let_go()
        self._loaded = subject


@dataclass
class Subject:
    """A recommender on a data set.

    Parameters
    ----------
    runs : folder of trained runs; a finished one is never trained again
    candidates : so many candidates of each user; by default those of the run
    """

    source: DataSource
    model: str
    runs: Path
    training: TrainingPlan = field(default_factory=TrainingPlan)
    shelf: Shelf = field(default_factory=Shelf)
    candidates: int | str | None = None

    def let_go(self) -> None:
        """Forget all that was loaded; it is loaded again when it is needed."""
        for name in ("recommender", "inputs", "scorer", "scored", "values"):
            self.__dict__.pop(name, None)

    @property
    def folder(self) -> Path:
        """Where the trained run is, or will be."""
        seed = f"-seed{self.training.seed}" if self.training.seed else ""
        return self.runs / f"{self.source.key}-{self.model}{seed}"

    def identity(self, progress: Progress) -> dict[str, Any]:
        """What names the recommender and its candidates; it is trained first if it is not yet."""
        about = {"model": self.model, **self.training.identity(), "candidates": self.candidates}
        if self.model == "taste":
            return {**about, "data": self.source.bundle.manifest.sha256}
        self.trained(progress)
        tables = ("test", "validation", "users", "items", "history")
        files = ("model.safetensors", *(f"{table}.parquet" for table in tables))
        return {**about, **{name: file_sum(self.folder / name) for name in files}}

    def trained(self, progress: Progress) -> RunRecord:
        """The record of the finished run, which is made if there is none."""
        from fairrec.models.deep.training import train
        from fairrec.models.runs.record import load_run_record

        bundle = self.source.bundle
        if (self.folder / "run.json").exists():
            record = load_run_record(self.folder)
            if (record.model, record.bundle_sha256) != (self.model, bundle.manifest.sha256):
                raise InputError(
                    f"{self.folder}: holds a run of another model or of other data. Remove it, or "
                    f"give another {spelled('runs')}."
                )
            misfit = self.training.misfit(record, bundle)
            if misfit:
                raise InputError(
                    f"{self.folder}: holds a run with another {misfit}. Remove it, or give another "
                    f"{spelled('runs')}."
                )
            if record.finished:
                return record
        options, hyper = self.training.options(bundle), self.training.hyper(self.model)
        return train(bundle, self.model, self.folder, hyper, options, progress=progress)

    @cached_property
    def recommender(self) -> Recommender:
        """The model, loaded."""
        self.shelf.take(self)
        seed, bundle = self.training.data_seed, self.source.bundle
        by_taste = self.model == "taste"
        loaded = recommender_by_taste(bundle, seed) if by_taste else recommender_of_run(self.folder)
        if self.candidates is None:
            return loaded
        return with_candidates(loaded, bundle, self.candidates, seed)

    @cached_property
    def _read(self) -> tuple[AuditInputs, tuple[MetricAtK, ...]]:
        tables = self.recommender.tables
        inputs, metrics = read_inputs(self.recommender.candidates, **tables, has_scores=False)
        # what is compiled or loaded on first use is no part of the time of a test
        scorer = PositionScorer(self.recommender, inputs)
        few = np.arange(min(WARM_UP_LISTS, inputs.n_users))
        ledger = Ledger(inputs.candidates, scorer)
        Measure(metrics, inputs.candidates, inputs.side, ledger, self.threads)(few)
        return inputs, metrics

    @property
    def inputs(self) -> AuditInputs:
        """The candidates without scores, and what metrics need."""
        return self._read[0]

    @property
    def wanted(self) -> tuple[MetricAtK, ...]:
        """The metrics that the data set allows."""
        return self._read[1]

    @cached_property
    def scorer(self) -> PositionScorer:
        """The model as a search asks it."""
        return PositionScorer(self.recommender, self.inputs)

    @cached_property
    def scored(self) -> AuditInputs:
        """The inputs with the scores of everyone."""
        return self.inputs.with_scores(self.scorer.ask(np.arange(self.inputs.n_users)))

    @cached_property
    def values(self) -> FloatArray:
        """(n_metrics, n_users), the exact values."""
        return measure_everyone(self.scored, self.wanted, self.threads).values

    @property
    def metrics(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(metric.name for metric in self.wanted)

    @property
    def threads(self) -> int:
        """Threads to measure with."""
        return available_threads()

    def space(
        self, min_support: float, by: Sequence[str] | None = None, testsgd: bool = False
    ) -> Grouping:
        """The intersections of all attributes, or of some of them, with enough users.

        Parameters
        ----------
        testsgd : those that TestSGD looks at, for which the paper takes some attributes by tens
        """
        names = [attribute.name for attribute in self.inputs.attributes]
        chosen = [self.inputs.attributes[names.index(name)] for name in (by or names)]
        protocol = self.training.protocol
        tens = protocol.by_decade if testsgd and protocol is not None else ()
        attributes = [by_decade(one) if one.name in tens else one for one in chosen]
        return full_combinations(attributes, min_support)
