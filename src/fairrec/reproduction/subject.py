"""What is tested: a recommender on a data set, trained once and loaded when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.core.files import file_sum
from fairrec.core.options import AuditOptions, Progress
from fairrec.core.threads import available_threads
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.candidates import gather_lists
from fairrec.inputs.ids import known_positions
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.reproduction.data import Source
from fairrec.scoring.ledger.ledger import Ledger
from fairrec.search.measure import Measure

if TYPE_CHECKING:
    from fairrec.models.runs.checkpoint import RunRecord

MODEL_TITLES = {
    "wide_deep": "Wide&Deep",
    "deepfm": "DeepFM",
    "dcn": "DCN",
    "fgcnn": "FGCNN",
    "taste": "popularity and taste (no training)",
}
PAPER_MODELS = ("wide_deep", "deepfm", "dcn", "fgcnn")
LARGE_BATCH_FROM = 300_000
"""Positive interactions from which training takes steps of 4,096 rows, otherwise 1,024."""
WARM_UP_LISTS = 64

ScorePairs = Callable[[IntArray, AnyArray], FloatArray]
"""Positions of users and of items -> one score for each pair."""


@dataclass(frozen=True, slots=True)
class Training:
    """How models are trained: the defaults of `fairrec train`, or a moment for a quick run."""

    quick: bool = False
    seed: int = 0


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
        user_ids = inputs.user_ids.gather(inputs.user_of_list)
        self._user_at = known_positions(user_ids, recommender.user_ids)
        self._item_at = known_positions(inputs.candidates.item_ids, recommender.item_ids)

    def ask(self, lists: IntArray) -> FloatArray:
        """The scores of all candidates of these lists, one list after the other."""
        offsets = self._candidates.offsets
        users = np.repeat(self._user_at[lists], offsets[lists + 1] - offsets[lists])
        items = self._item_at[gather_lists(self._candidates.items, offsets, lists)]
        return self._score(users, items)


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
    """

    source: Source
    model: str
    runs: Path
    training: Training = field(default_factory=Training)
    shelf: Shelf = field(default_factory=Shelf)

    def let_go(self) -> None:
        """Forget all that was loaded; it is loaded again when it is needed."""
        for name in ("recommender", "inputs", "scorer", "scored", "values"):
            self.__dict__.pop(name, None)

    @property
    def folder(self) -> Path:
        """Where the trained run is, or will be."""
        return self.runs / f"{self.source.key}-{self.model}"

    def identity(self, told: Progress) -> dict[str, Any]:
        """What names the recommender and its candidates; it is trained first if it is not yet."""
        if self.model == "taste":
            return {"model": "taste", "data": self.source.bundle.manifest.sha256}
        self.trained(told)
        tables = ("test", "validation", "users", "items", "history")
        files = ("model.safetensors", *(f"{table}.parquet" for table in tables))
        return {"model": self.model, **{name: file_sum(self.folder / name) for name in files}}

    def trained(self, told: Progress) -> RunRecord:
        """The record of the finished run, which is made if there is none."""
        from fairrec.models.deep.training import TrainingOptions, train
        from fairrec.models.runs.checkpoint import load_run_record

        bundle = self.source.bundle
        if (self.folder / "run.json").exists():
            record = load_run_record(self.folder)
            if (record.model, record.bundle_sha256) != (self.model, bundle.manifest.sha256):
                raise InputError(
                    f"{self.folder}: holds a run of another model or of other data. Remove it, or "
                    "give another --runs."
                )
            if record.finished:
                return record
        large = bundle.manifest.n_positive >= LARGE_BATCH_FROM
        options = TrainingOptions(batch_size=4096 if large else 1024, seed=self.training.seed)
        hyper: dict[str, Any] = {}
        if self.training.quick:
            options = replace(options, epochs=1)
            hyper = {"embedding": 4, "layers": (16,)}
        return train(bundle, self.model, self.folder, hyper, options, progress=told)

    @cached_property
    def recommender(self) -> Recommender:
        """The model, loaded."""
        self.shelf.take(self)
        return self._taste() if self.model == "taste" else self._run()

    def _run(self) -> Recommender:
        from fairrec.models.deep.score import score_pairs
        from fairrec.models.runs.run import load_run

        run = load_run(self.folder, "auto")
        return Recommender(
            score=lambda users, items: score_pairs(run.model, users, items),
            candidates=run.candidates(),
            validation=run.candidates("validation"),
            user_ids=run.users["user_id"],
            item_ids=run.items["item_id"],
            tables=run.tables(),
        )

    def _taste(self) -> Recommender:
        from fairrec.models.deep.training_data import Targets, training_data
        from fairrec.models.shallow.taste import Taste

        bundle = self.source.bundle
        data = training_data(bundle, seed=self.training.seed)

        def lists(targets: Targets) -> pl.DataFrame:
            ids = bundle.items["item_id"].gather(targets.items.ravel().astype(np.int64))
            return pl.DataFrame(
                {
                    "user_id": bundle.users["user_id"].gather(targets.users),
                    "item_id": ids.reshape(targets.items.shape).arr.to_list(),
                    "label": pl.Series(targets.is_target.astype(np.int8)).arr.to_list(),
                }
            )

        return Recommender(
            score=Taste(bundle, data.history).score,
            candidates=lists(data.test),
            validation=lists(data.validation),
            user_ids=bundle.users["user_id"],
            item_ids=bundle.items["item_id"],
            tables={
                "users": bundle.users,
                "items": bundle.items if bundle.has_categories else None,
                "history": data.history,
                "by": bundle.manifest.attributes,
            },
        )

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

    def space(self, min_support: float, by: Sequence[str] | None = None) -> Grouping:
        """The full combinations of the attributes, or of some of them, with enough users."""
        names = [attribute.name for attribute in self.inputs.attributes]
        chosen = [self.inputs.attributes[names.index(name)] for name in (by or names)]
        options = AuditOptions(depth="full", min_support=min_support, threads=self.threads)
        return Grouping.of(chosen, options)
