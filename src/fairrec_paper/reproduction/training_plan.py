"""How the models of experiments are trained, by either protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairrec.core.kinds import as_data
from fairrec_paper.datasets.bundle import Bundle
from fairrec_paper.models.deep.training_options import TrainingOptions
from fairrec_paper.reproduction.options import OURS, PAPER
from fairrec_paper.reproduction.protocol import Protocol

if TYPE_CHECKING:
    from fairrec_paper.models.runs.record import RunRecord

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
            features = self.protocol.features_in(bundle)
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
            asked |= {**vars(self.options(bundle)), **self.hyper(record.model)}
        for name, value in asked.items():
            if name not in _ANYWHERE and as_data(there.get(name)) != as_data(value):
                return f"{name.replace('_', ' ')} ({there.get(name)}, now {value})"
        return ""
