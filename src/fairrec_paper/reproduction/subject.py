"""What an experiment tests: a recommender of a data set, trained, loaded and scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.files import file_sum
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.core.threads import available_threads
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.ids import gather_lists, known_positions
from fairrec.inputs.users import Attribute
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.scoring.ledger import Ledger
from fairrec.search.evidence import Measure
from fairrec_paper.models.data import Recommender, TasteRecommender
from fairrec_paper.models.runs import RUN, WEIGHTS, RunRecord, first_difference, load_run_record
from fairrec_paper.reproduction.data import DataSource, TrainingPlan

MIN_SUPPORT = 0.001
"""The smallest group as a share of all users: the paper's, for all methods."""


def full_combinations(
    attributes: Sequence[Attribute], min_support: float = MIN_SUPPORT
) -> Grouping:
    """The intersections of all attributes with enough users."""
    return Grouping.of(attributes, AuditOptions(depth="full", min_support=min_support))


def by_decade(attribute: Attribute) -> Attribute:
    """The attribute with its numbers by tens; what is no number, such as a missing value, stays."""
    decades = [_decade(str(value)) for value in attribute.values]
    values = tuple(dict.fromkeys(decades))
    code_of_value = np.array([values.index(decade) for decade in decades], dtype=np.int32)
    return replace(
        attribute, codes=code_of_value[attribute.codes], values=values, binning="width 10"
    )


def _decade(value: str) -> str:
    """The tens of a number.

    >>> _decade("27"), _decade("(missing)")
    ('20-29', '(missing)')
    """
    try:
        start = int(float(value) // 10) * 10
    except ValueError:
        return value
    return f"{start}-{start + 9}"


class PositionScorer:
    """A scorer that looks ids up once, so that the time of a test is that of the model."""

    def __init__(self, recommender: Recommender, inputs: AuditInputs) -> None:
        self._score = recommender.score_positions
        self._candidates = inputs.candidates
        user_ids = inputs.ids_of_lists
        self._user_at = known_positions(user_ids, recommender.users["user_id"])
        self._item_at = known_positions(inputs.candidates.item_ids, recommender.items["item_id"])

    def ask(self, lists: IntArray) -> FloatArray:
        """The scores of all candidates of these lists, one list after the other."""
        offsets = self._candidates.offsets
        users = np.repeat(self._user_at[lists], offsets[lists + 1] - offsets[lists])
        items = self._item_at[gather_lists(self._candidates.items, offsets, lists)]
        return self._score(users, items)


WARM_UP_LISTS = 64


@dataclass
class Subject:
    """A recommender on a data set.

    Parameters
    ----------
    runs : folder of trained runs; a finished one is never trained again
    """

    source: DataSource
    model: str
    runs: Path
    training: TrainingPlan = field(default_factory=TrainingPlan)

    @property
    def labels(self) -> dict[str, Any]:
        """How its rows are labelled."""
        return {"dataset": self.source.name, "model": self.model}

    def let_go(self) -> None:
        """Forget all that was loaded; it is loaded again when it is needed."""
        for name in ("recommender", "_read", "scorer", "scored", "values"):
            self.__dict__.pop(name, None)

    @property
    def folder(self) -> Path:
        """Where the trained run is, or will be."""
        seed = f"-seed{self.training.seed}" if self.training.seed else ""
        return self.runs / f"{self.source.key}-{self.model}{seed}"

    def identity(self, progress: Progress) -> dict[str, Any]:
        """What names the recommender and its candidates; it is trained first if it is not yet."""
        about = {"model": self.model, **self.training.identity()}
        if self.model == "taste":
            return {**about, "data": self.source.bundle.manifest.sha256}
        self.trained(progress)
        tables = ("test", "validation", "users", "items", "history")
        files = (WEIGHTS, *(f"{table}.parquet" for table in tables))
        return {**about, **{name: file_sum(self.folder / name) for name in files}}

    def trained(self, progress: Progress) -> RunRecord:
        """The record of the finished run, which is made if there is none."""
        from fairrec_paper.models.training import train

        bundle = self.source.bundle
        options, hyper = self.training.options(bundle), self.training.hyper(self.model)
        if not (self.folder / RUN).exists():
            return train(bundle, self.model, self.folder, hyper, options, progress=progress)
        record = load_run_record(self.folder)
        data = {"model": self.model, "bundle_sha256": bundle.manifest.sha256}
        difference = first_difference(data, record.model_dump())
        if difference := difference or self.training.misfit(record, bundle):
            raise InputError(
                f"{self.folder}: holds a run with another {difference}. Remove it, or give another "
                f"{spell('runs')}."
            )
        return record

    @cached_property
    def recommender(self) -> Recommender:
        """The model, loaded."""
        if self.model == "taste":
            return TasteRecommender(self.source.bundle, self.training.data_seed)
        from fairrec_paper.models.run import load_run

        return load_run(self.folder, "auto")

    @cached_property
    def _read(self) -> tuple[AuditInputs, tuple[MetricAtK, ...]]:
        tables = self.recommender.tables()
        inputs, metrics = read_inputs(self.recommender.candidates(), **tables, has_scores=False)
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
    def metrics(self) -> tuple[MetricAtK, ...]:
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
        return measure_everyone(self.scored, self.metrics, self.threads).values

    @property
    def metric_names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(metric.name for metric in self.metrics)

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
