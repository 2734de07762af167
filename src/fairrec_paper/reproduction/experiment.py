"""Experiments: trials to work out and keep, and tables and figures made from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import fairrec
import fairrec_paper
from fairrec.core.atomic_io import errors_of_disk, write_text
from fairrec.core.progress import Progress
from fairrec_paper.reproduction.data import (
    TITLES,
    DataSource,
    Subject,
    TrainingPlan,
    paper_protocol,
    protocol_notes,
)
from fairrec_paper.reproduction.layout import Outcome
from fairrec_paper.reproduction.options import PAPER, ReproduceOptions

Row = dict[str, Any]
PRESENTATION = ("report", "cli", "figures")
"""Folders and modules that word and draw what was worked out: no number comes from them."""


@cache
def code_sum() -> str:
    """The SHA-256 checksum over the sources of both packages, without what only words and draws."""
    digest = hashlib.sha256()
    for package in (fairrec, fairrec_paper):
        folder = Path(package.__path__[0])
        for file in sorted(folder.rglob("*.py")):
            place = file.relative_to(folder)
            if place.with_suffix("").parts[0] not in PRESENTATION:
                content = file.read_bytes()
                digest.update(f"{package.__name__} {place.as_posix()} {len(content)}\n".encode())
                digest.update(content)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Trial:
    """One piece of an experiment: it is worked out once and kept.

    Parameters
    ----------
    kind : trials of a kind have rows of one form
    name : for the progress bar
    about : what determines the rows besides the code and the subject: options and seed
    work : progress -> rows of plain values
    labels : added to each row when it is used, beside those of its subject, and not kept
    subject : asked for its identity only when the trial's turn comes, as it may have to be trained
    """

    kind: str
    name: str
    about: Mapping[str, Any]
    work: Callable[[Progress], Sequence[Row]]
    labels: Mapping[str, Any] = field(default_factory=dict)
    subject: Subject | None = None

    def as_rows(self, rows: Sequence[Row]) -> list[Row]:
        """The rows with their labels."""
        labels = {} if self.subject is None else self.subject.labels
        return [{**labels, **self.labels, **row} for row in rows]

    def identity(self, progress: Progress) -> dict[str, Any]:
        """What determines the rows besides the code."""
        subject = {} if self.subject is None else self.subject.identity(progress)
        return {"kind": self.kind, **subject, **self.about}


class TrialStore:
    """A folder with one small JSON file for each finished trial, named by what determines it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n_worked = 0

    def rows(self, trial: Trial, progress: Progress) -> list[Row]:
        """The rows of a trial, worked out now unless they were before."""
        about = {"code": code_sum(), **trial.identity(progress)}
        key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
        file = self.folder / f"{key[:24]}.json"
        if file.exists():
            rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
        else:
            rows = [*trial.work(progress)]
            with errors_of_disk(file):
                self.folder.mkdir(parents=True, exist_ok=True)
            content = {"name": trial.name, "about": about, "rows": rows}
            write_text(file, json.dumps(content, allow_nan=False))
            self.n_worked += 1
        return trial.as_rows(rows)


def run_trials(
    trials: Sequence[Trial], store: TrialStore, progress: Progress
) -> dict[str, pl.DataFrame]:
    """The rows of all trials, a table for each kind."""
    rows: dict[str, list[Row]] = {}
    loaded: Subject | None = None
    for done, trial in enumerate(trials):
        heading = f"{done + 1} of {len(trials)}, {trial.name}"

        def inner(
            stage: str, part: int, whole: int, at: int = done, heading: str = heading
        ) -> None:
            progress(f"{heading}: {stage}" if stage else heading, at, len(trials))

        inner("", 0, 0)
        if loaded is not None and loaded is not trial.subject:
            # one at a time, so that memory stays flat
            loaded.let_go()
        loaded = trial.subject
        rows.setdefault(trial.kind, []).extend(store.rows(trial, inner))
    return {kind: pl.DataFrame(part, infer_schema_length=None) for kind, part in rows.items()}


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
        return Subject(source, model, self.runs, training)

    def subjects(self) -> list[Subject]:
        """Every model on every data set."""
        return [
            self.subject(source, model) for source in self.sources for model in self.options.models
        ]

    def trained_subjects(self) -> list[Subject]:
        """Every trained model on every data set with every training seed."""
        return [
            self.subject(source, model, seed)
            for source in self.sources
            for model in self.options.models
            if model != "taste"
            for seed in self.options.trainings
        ]

    def one_subject(self, source: DataSource, preferred: str) -> Subject:
        """The preferred model on a data set, or the first one where that is not tested."""
        models = self.options.models
        return self.subject(source, preferred if preferred in models else models[0])

    def source_title(self, dataset: str) -> str:
        """What stands for a data set of the paper."""
        return next(source.title for source in self.sources if source.name == dataset)

    def with_titles(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows with a column `data`: what stands for each `dataset`."""
        return rows.with_columns(data=pl.col("dataset").map_elements(self.source_title, pl.String))

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
        return "; ".join(source.title for source in self.sources) + by_paper


@dataclass(frozen=True, slots=True)
class Experiment:
    """A registered experiment.

    Parameters
    ----------
    label : in the paper
    datasets : of the paper, as far as it says; none where a world is made for the purpose
    plan : all trials, in the order of work
    outcome : made from the rows of the trials
    made_for : in words, the world that is made where it uses no data set
    """

    name: str
    label: str
    title: str
    datasets: tuple[str, ...]
    plan: Callable[[Setting], Sequence[Trial]]
    outcome: Callable[[Setting, Frames], Outcome]
    made_for: str = ""
