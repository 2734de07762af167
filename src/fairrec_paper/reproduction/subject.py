"""What an experiment tests: a recommender of a data set, trained, loaded and scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.files import file_sum
from fairrec.core.options import spelled
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
from fairrec.search.measure import Measure
from fairrec_paper.datasets.bundle import Bundle
from fairrec_paper.models.runs import RUN, WEIGHTS, RunRecord, first_difference, load_run_record
from fairrec_paper.reproduction.data import DataSource
from fairrec_paper.reproduction.protocol import TrainingPlan

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


ScorePairs = Callable[[IntArray, AnyArray], FloatArray]
"""Positions of users and of items -> one score for each pair."""


@dataclass(frozen=True, slots=True)
class Recommender:
    """A recommender in memory.

    Parameters
    ----------
    candidates, validation : `user_id, item_id, label`, one row a user, for both targets
    user_ids, item_ids : in the order of the positions that `score` takes
    tables : what an audit needs besides
    """

    score: ScorePairs
    candidates: pl.DataFrame
    validation: pl.DataFrame
    user_ids: pl.Series
    item_ids: pl.Series
    tables: dict[str, Any]

    def predictions(self, target: Literal["test", "validation"] = "test") -> pl.DataFrame:
        """`user_id, item_id, label, score`, one row a candidate."""
        lists = self.candidates if target == "test" else self.validation
        rows = lists.explode("item_id", "label")
        users = known_positions(rows["user_id"], self.user_ids)
        items = known_positions(rows["item_id"], self.item_ids)
        return rows.with_columns(pl.Series("score", self.score(users, items)))


class PositionScorer:
    """A scorer that looks ids up once, so that the time of a test is that of the model."""

    def __init__(self, recommender: Recommender, inputs: AuditInputs) -> None:
        self._score = recommender.score
        self._candidates = inputs.candidates
        user_ids = inputs.ids_of_lists
        self._user_at = known_positions(user_ids, recommender.user_ids)
        self._item_at = known_positions(inputs.candidates.item_ids, recommender.item_ids)

    def ask(self, lists: IntArray) -> FloatArray:
        """The scores of all candidates of these lists, one list after the other."""
        offsets = self._candidates.offsets
        users = np.repeat(self._user_at[lists], offsets[lists + 1] - offsets[lists])
        items = self._item_at[gather_lists(self._candidates.items, offsets, lists)]
        return self._score(users, items)


def recommender_of_run(folder: Path) -> Recommender:
    """The model of a finished run, loaded."""
    from fairrec_paper.models.evaluation import score_pairs
    from fairrec_paper.models.run import load_run

    run = load_run(folder, "auto")
    return Recommender(
        score=lambda users, items: score_pairs(run.model, users, items),
        candidates=run.candidates(),
        validation=run.candidates("validation"),
        user_ids=run.users["user_id"],
        item_ids=run.items["item_id"],
        tables=run.tables(),
    )


def recommender_by_taste(bundle: Bundle, seed: int) -> Recommender:
    """Popularity and taste, without training."""
    from fairrec_paper.models.data import Taste, training_data

    data = training_data(bundle, seed=seed)

    return Recommender(
        score=Taste(bundle, data.history).score,
        candidates=data.test.table(bundle.users, bundle.items),
        validation=data.validation.table(bundle.users, bundle.items),
        user_ids=bundle.users["user_id"],
        item_ids=bundle.items["item_id"],
        tables={
            "users": bundle.users,
            "items": bundle.items if bundle.has_categories else None,
            "history": data.history,
            "by": bundle.manifest.attributes,
        },
    )


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
        for name in ("recommender", "inputs", "scorer", "scored", "values"):
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
                f"{spelled('runs')}."
            )
        return record

    @cached_property
    def recommender(self) -> Recommender:
        """The model, loaded."""
        seed, bundle = self.training.data_seed, self.source.bundle
        by_taste = self.model == "taste"
        return recommender_by_taste(bundle, seed) if by_taste else recommender_of_run(self.folder)

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
