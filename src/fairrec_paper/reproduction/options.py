"""How experiments are run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fairrec.core.audit_options import Seed
from fairrec.core.errors import InputError, unknown_name
from fairrec.core.kinds import NAMES, SWITCH, Kind, names_in, one_of, whole
from fairrec.core.options import Option, Options, spelled
from fairrec_paper.models.options import DEEP_MODELS

OURS, PAPER = "ours", "paper"
PROTOCOLS = (OURS, PAPER)
MODEL_TITLES = {
    "wide_deep": "Wide&Deep",
    "deepfm": "DeepFM",
    "dcn": "DCN",
    "fgcnn": "FGCNN",
    "taste": "popularity and taste (no training)",
}
PAPER_MODELS = DEEP_MODELS
_SEED = whole(0, 2**32 - 1)


def _seeds(given: Any) -> tuple[int, ...]:
    """Several seeds, each once.

    >>> _seeds("0, 1,2,1")
    (0, 1, 2)
    """
    parts = names_in(given) if isinstance(given, str) else given
    return tuple(dict.fromkeys(_SEED.parse(part) for part in parts))


SEEDS = Kind(_seeds, "whole numbers from 0, with commas between them", "N,N", is_list=True)


@dataclass(frozen=True)
class ReproduceOptions(Options):
    """How experiments are run."""

    models: Annotated[
        tuple[str, ...], Option(NAMES, "Recommenders to test; taste is without training")
    ] = PAPER_MODELS
    protocol: Annotated[
        str,
        Option(
            one_of(*PROTOCOLS), "How data are taken and models trained: our way, or the paper's"
        ),
    ] = OURS
    training_seeds: Annotated[
        tuple[int, ...] | None,
        Option(
            SEEDS.or_none(),
            "Each model is trained with each of these seeds, on the same targets and candidates",
            default="the seed",
        ),
    ] = None
    n_seeds: Annotated[
        int, Option(whole(1), "Searches of each method, with the seeds from 0 on")
    ] = 5
    permutations: Annotated[
        int,
        Option(whole(1), "How often values are shuffled across users, to test gaps against chance"),
    ] = 1000
    quick: Annotated[
        bool, Option(SWITCH, "Small synthetic data and little effort, to see that all of it runs")
    ] = False
    seed: Seed = 0

    def check(self) -> None:
        """Refuse models that are not there."""
        object.__setattr__(self, "models", tuple(dict.fromkeys(self.models)))
        if not self.models:
            raise InputError(f"No model is named. Example: {spelled('models', ('deepfm', 'dcn'))}")
        for model in self.models:
            if model not in MODEL_TITLES:
                raise unknown_name("model", model, MODEL_TITLES)
        if self.training_seeds == ():
            raise InputError(
                f"No training seed is named. Example: {spelled('training_seeds', (0, 1, 2))}"
            )

    @property
    def has_deep_models(self) -> bool:
        """Whether any of the models is trained."""
        return self.models != ("taste",)

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
