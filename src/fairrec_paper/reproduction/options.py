"""How experiments are run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from fairrec.core.audit_options import Seed
from fairrec.core.errors import InputError, unknown_name
from fairrec.core.option_types import Form, Names, Switch, Whole, split_names
from fairrec.core.options import Option, Options, options, spell
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


@options
class ReproduceOptions(Options):
    """How experiments are run."""

    models: Annotated[Names, Option("Recommenders to test; taste is without training")] = (
        PAPER_MODELS
    )
    protocol: Annotated[
        Literal["ours", "paper"],
        Option("How data are taken and models trained: our way, or the paper's"),
    ] = "ours"
    training_seeds: Annotated[
        Annotated[
            tuple[Annotated[Whole, Field(ge=0, le=2**32 - 1)], ...],
            BeforeValidator(lambda given: split_names(given) if isinstance(given, str) else given),
            AfterValidator(lambda seeds: tuple(dict.fromkeys(seeds))),
            Form("whole numbers from 0, with commas between them", "N,N", is_list=True),
        ]
        | None,
        Option(
            "Each model is trained with each of these seeds, on the same targets and candidates",
            default="the seed",
        ),
    ] = None
    n_seeds: Annotated[
        Whole, Field(ge=1), Option("Searches of each method, with the seeds from 0 on")
    ] = 5
    permutations: Annotated[
        Whole,
        Field(ge=1),
        Option("How often values are shuffled across users, to test gaps against chance"),
    ] = 1000
    quick: Annotated[
        Switch, Option("Small synthetic data and little effort, to see that all of it runs")
    ] = False
    seed: Seed = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", tuple(dict.fromkeys(self.models)))
        if not self.models:
            raise InputError(f"No model is named. Example: {spell('models', ('deepfm', 'dcn'))}")
        for model in self.models:
            if model not in MODEL_TITLES:
                raise unknown_name("model", model, MODEL_TITLES)
        if self.training_seeds == ():
            raise InputError(
                f"No training seed is named. Example: {spell('training_seeds', (0, 1, 2))}"
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
