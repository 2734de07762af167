"""How experiments are run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fairrec.core.audit_options import Seed
from fairrec.core.errors import InputError, unknown_name
from fairrec.core.kinds import NAMES, SWITCH, whole
from fairrec.core.options import Option, Options, spelled
from fairrec.models.deep.model_names import DEEP_MODELS

MODEL_TITLES = {
    "wide_deep": "Wide&Deep",
    "deepfm": "DeepFM",
    "dcn": "DCN",
    "fgcnn": "FGCNN",
    "taste": "popularity and taste (no training)",
}
PAPER_MODELS = DEEP_MODELS


@dataclass(frozen=True)
class ReproduceOptions(Options):
    """How experiments are run."""

    models: Annotated[
        tuple[str, ...], Option(NAMES, "Recommenders to test; taste is without training")
    ] = PAPER_MODELS
    n_seeds: Annotated[
        int, Option(whole(1), "Searches of each method, with the seeds from 0 on")
    ] = 5
    permutations: Annotated[
        int,
        Option(whole(1), "How often values are shuffled across users, to test gaps against chance"),
    ] = 1000
    quick: Annotated[
        bool, Option(SWITCH, "Small synthetic worlds and little effort, to see that all of it runs")
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

    @property
    def has_deep_models(self) -> bool:
        """Whether any of the models is trained."""
        return self.models != ("taste",)

    @property
    def seeds(self) -> range:
        """The seeds of the searches."""
        return range(self.n_seeds)


QUICK = ReproduceOptions(n_seeds=2, models=("deepfm", "dcn"), permutations=49, quick=True)
