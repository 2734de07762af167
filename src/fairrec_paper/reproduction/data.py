"""What an experiment tests: the paper's data sets or synthetic shapes, and recommenders of them."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError, plain
from fairrec.core.files import file_sum
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.core.threads import available_threads
from fairrec.demo.world_options import WorldOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.binning import Binning
from fairrec.inputs.ids import gather_lists, known_positions
from fairrec.inputs.users import Attribute, AttributeSpec, encode_attribute
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.scoring.ledger import Ledger
from fairrec.search.evidence import Measure
from fairrec_paper.datasets.bundle import Bundle, read_bundle, write_bundle
from fairrec_paper.datasets.synthetic import shaped_like, synthetic_bundle
from fairrec_paper.models.data import CATEGORIES, Recommender, TasteRecommender
from fairrec_paper.models.options import TrainingOptions, need_torch
from fairrec_paper.models.runs import RUN, WEIGHTS, RunRecord, first_difference, load_run_record
from fairrec_paper.reproduction.options import OURS, PAPER, ReproduceOptions

TITLES = {
    "movielens-1m": "MovieLens-1M",
    "lfm360k": "LFM360K",
    "blackfriday": "BlackFriday",
    "amazon-electronics": "Amazon",
}
"""The paper's data sets."""
SYNTHETIC = "synthetic "


@dataclass(frozen=True)
class DataSource:
    """What is used for a data set of the paper.

    Parameters
    ----------
    name : the paper's data set
    folder : a bundle
    key : short and different for different data, for the names of trained runs
    by_paper : taken by the paper's protocol
    """

    name: str
    folder: Path
    key: str
    by_paper: bool = False

    @cached_property
    def bundle(self) -> Bundle:
        """The tables."""
        bundle = read_bundle(self.folder)
        return apply_protocol(bundle, paper_protocol(self.name)) if self.by_paper else bundle

    @property
    def is_synthetic(self) -> bool:
        """Whether no real user is in it."""
        return self.bundle.manifest.name.startswith(SYNTHETIC)

    @property
    def title(self) -> str:
        """What it is, in words that any table or figure can carry."""
        shape = "synthetic shape of " if self.is_synthetic else ""
        return f"{shape}{TITLES[self.name]}, {self.bundle.manifest.n_users:,} users"


class DataCatalogue:
    """The data sets given, and synthetic ones made when they are asked for.

    Parameters
    ----------
    given : folders of bundles
    scratch : where synthetic bundles are written
    """

    def __init__(self, given: Iterable[str], scratch: Path, options: ReproduceOptions) -> None:
        self._scratch, self._options = scratch, options
        self._sources: dict[str, DataSource] = {}
        for text in given:
            holds = read_bundle(Path(text)).manifest.name
            name = paper_name(holds, Path(text))
            if name in self._sources:
                raise InputError(
                    f"{spell('data', text)}: another folder is given for {name} already. "
                    "Give one of them."
                )
            self._sources[name] = self._by_protocol(
                DataSource(name, Path(text), "-".join(holds.split()))
            )
        self.given = tuple(self._sources)
        """The paper's data sets for which folders were given."""

    def get(self, name: str, progress: Progress) -> DataSource:
        """What is used for a data set of the paper."""
        if name not in self._sources:
            world = shaped_like(name, seed=self._options.seed)
            world = small(world) if self._options.quick else world
            made = world_source(name, world, self._scratch, progress)
            self._sources[name] = self._by_protocol(made)
        return self._sources[name]

    def _by_protocol(self, source: DataSource) -> DataSource:
        if self._options.protocol != PAPER:
            return source
        return replace(source, key=f"{source.key}-{PAPER}", by_paper=True)


def small(options: WorldOptions) -> WorldOptions:
    """A world of the same form in which everything runs in a moment."""
    n_values = 3 if len(options.attributes) <= 3 else 2
    return replace(
        options,
        n_users=240,
        n_items=120,
        n_categories=12,
        interactions=12.0,
        attributes=fewer_values(options, dict.fromkeys(options.attributes, n_values)),
    )


def fewer_values(options: WorldOptions, most: Mapping[str, int]) -> dict[str, Mapping[str, float]]:
    """The attributes with no more than so many values each, the most frequent ones."""
    return {
        name: dict(sorted(shares.items(), key=lambda pair: -pair[1])[: most.get(name)])
        for name, shares in options.attributes.items()
    }


def world_source(name: str, options: WorldOptions, scratch: Path, progress: Progress) -> DataSource:
    """A synthetic world on disk; one made before with the same options is taken again."""
    about = json.dumps(asdict(options), sort_keys=True)
    key = f"synthetic-{name}-{hashlib.sha256(about.encode()).hexdigest()[:8]}"
    folder = scratch / key
    if not (folder / "manifest.json").exists():
        progress("making synthetic data", 0, 0)
        write_bundle(synthetic_bundle(options), folder)
    return DataSource(name, folder, key)


def paper_name(holds: str, folder: Path) -> str:
    """The paper's data set that a bundle of this name is used for."""
    name = holds.removeprefix(SYNTHETIC)
    if name not in TITLES:
        raise InputError(
            f"{folder}: holds '{plain(holds)}', which no experiment of the paper uses. "
            f"Give one of {', '.join(TITLES)}."
        )
    return name


_NOTE = "paper's protocol: "


@dataclass(frozen=True)
class Protocol:
    """The paper's protocol on one of its data sets, as the settings file says it.

    Parameters
    ----------
    category : the column of items that URD compares, where it is not `categories`
    whole : columns of items that are rounded down
    features : columns of users and items that the models see beside the ids
    training : options of `fairrec-paper train`
    models : hyper-parameters by model
    by_decade : attributes whose values TestSGD takes by tens
    sha256 : of the settings file
    """

    dataset: str
    category: str | None
    whole: tuple[str, ...]
    features: tuple[str, ...]
    training: Mapping[str, Any] = field(hash=False)
    models: Mapping[str, Mapping[str, Any]] = field(hash=False)
    by_decade: tuple[str, ...]
    sha256: str

    def present_features(self, bundle: Bundle) -> tuple[str, ...]:
        """Those of the features that the data have."""
        known = {*bundle.users.columns, *bundle.items.columns}
        return tuple(name for name in self.features if name in known)


@cache
def paper_protocol(dataset: str) -> Protocol:
    """The settings of the paper on one of its data sets."""
    content = (Path(__file__).parent / "protocols" / f"{dataset}.toml").read_bytes()
    settings = tomllib.loads(content.decode())
    data, features = settings["data"], settings["features"]
    return Protocol(
        dataset=dataset,
        category=data.get("category"),
        whole=tuple(data.get("whole", ())),
        features=(*features["users"], *features["items"]),
        training=settings["training"],
        models=settings["models"],
        by_decade=tuple(settings["testsgd"]["by_decade"]),
        sha256=hashlib.sha256(content).hexdigest(),
    )


def apply_protocol(bundle: Bundle, protocol: Protocol) -> Bundle:
    """The data as the paper's protocol has them.

    Every interaction is positive, items without any are left out and counted, and URD's categories
    are those of the paper. Features that the paper's own data set lacks are an error; those that a
    stand-in or a synthetic shape lacks are noted.
    """
    manifest = bundle.manifest
    there = protocol.present_features(bundle)
    missing = [name for name in protocol.features if name not in there]
    if missing and manifest.name == protocol.dataset:
        raise InputError(
            f"The bundle of {protocol.dataset} has no {' and no '.join(missing)}, which the "
            "paper's models see. Prepare the data again with this version."
        )
    items = bundle.items.filter(
        pl.col("item_id").is_in(bundle.interactions["item_id"].unique().implode())
    )
    if protocol.category in items.columns:
        own = pl.concat_list(protocol.category).list.drop_nulls()
        items = items.with_columns(own.alias(CATEGORIES))
    rounded = [name for name in protocol.whole if name in items.columns]
    items = items.with_columns(pl.col(rounded).floor().cast(pl.Int64))
    n_unchosen = bundle.items.height - items.height
    notes = [
        f"{_NOTE}every interaction is positive, and {n_unchosen:,} items without any are left out",
        *(f"{_NOTE}the paper's models see {name}, which is not known here" for name in missing),
    ]
    interactions = bundle.interactions.with_columns(is_positive=pl.lit(True))
    counts = {"n_positive": interactions.height, "n_items": items.height}
    changes = {"positive": "every interaction", **counts, "notes": (*manifest.notes, *notes)}
    changes["sha256"] = {**manifest.sha256, "protocol": protocol.sha256}
    return Bundle(interactions, bundle.users, items, manifest.model_copy(update=changes))


def protocol_notes(bundle: Bundle) -> tuple[str, ...]:
    """What is said of data under the paper's protocol."""
    notes = bundle.manifest.notes
    return tuple(note.removeprefix(_NOTE) for note in notes if note.startswith(_NOTE))


LARGE_BATCH_FROM = 300_000
"""Positive interactions from which training takes steps of 4,096 rows, otherwise 1,024."""
_ANYWHERE = ("device",)
"""Options that change no number that matters: a run may come from another machine."""


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How models are trained.

    Parameters
    ----------
    quick : for a moment only
    seed : of the training
    data_seed : of targets, candidates and rows kept out, the same for all trainings
    protocol : the paper's; None for the defaults of `fairrec-paper train`
    epochs : at most so many, where only the time to score counts
    """

    quick: bool = False
    seed: int = 0
    data_seed: int = 0
    protocol: Protocol | None = None
    epochs: int | None = None

    def options(self, bundle: Bundle) -> TrainingOptions:
        """The options of `fairrec-paper train`."""
        seeds: dict[str, Any] = {"seed": self.seed, "data_seed": self.data_seed}
        if self.protocol is None:
            large = bundle.manifest.n_positive >= LARGE_BATCH_FROM
            options = TrainingOptions(batch_size=4096 if large else 1024, **seeds)
        else:
            features = self.protocol.present_features(bundle)
            options = TrainingOptions(**self.protocol.training, features=features, **seeds)
        if self.quick:
            return replace(options, epochs=1, batch_size=1024)
        return options if self.epochs is None else replace(options, epochs=self.epochs)

    def hyper(self, model: str) -> dict[str, Any]:
        """The hyper-parameters of a model."""
        hyper = {} if self.protocol is None else dict(self.protocol.models[model])
        return {**hyper, "embedding": 4, "layers": (16,)} if self.quick else hyper

    def identity(self) -> dict[str, Any]:
        """What names the plan among trials."""
        name = OURS if self.protocol is None else PAPER
        return {"protocol": name, "training_seed": self.seed, "data_seed": self.data_seed}

    def misfit(self, record: RunRecord, bundle: Bundle) -> str:
        """What of a run is other than planned, in words; "" where nothing is.

        By our protocol, only seeds count: a model of `fairrec-paper train` may be tested.
        """
        there = {**record.options, **record.hyper_parameters}
        seeds = TrainingOptions(seed=there["seed"], data_seed=there.get("data_seed"))
        there["data_seed"] = seeds.seed_of_data
        asked: dict[str, Any] = {"seed": self.seed, "data_seed": self.data_seed}
        if self.protocol is not None:
            asked |= {**asdict(self.options(bundle)), **self.hyper(record.model)}
        asked = {name: value for name, value in asked.items() if name not in _ANYWHERE}
        return first_difference(asked, there)


MIN_SUPPORT = 0.001
"""The smallest group as a share of all users: the paper's, for all methods."""


def full_combinations(
    attributes: Sequence[Attribute], min_support: float = MIN_SUPPORT
) -> Grouping:
    """The intersections of all attributes with enough users."""
    return Grouping.of(attributes, AuditOptions(depth="full", min_support=min_support))


def by_decade(attribute: Attribute) -> Attribute:
    """The attribute with its numbers by tens."""
    numbers = attribute.labels.cast(pl.Float64, strict=False)
    spec = AttributeSpec(attribute.name, attribute.name, Binning(width=10))
    return encode_attribute(numbers, spec, "users")


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
        need_torch()
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
