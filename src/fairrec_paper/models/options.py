"""The deep models by name, what they need, and the options of training; read without torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fairrec.core.audit_options import Seed
from fairrec.core.errors import InputError
from fairrec.core.option_types import Form, Names, Number, Pairs, Switch, Whole, parse_number
from fairrec.core.options import Option, Options, options

if TYPE_CHECKING:
    import torch

DEEP_MODELS = ("wide_deep", "deepfm", "dcn", "fgcnn")


def need_torch(*more: str) -> None:
    """Say how to install what deep models need, where it is not there."""
    for package in ("torch", "safetensors", *more):
        if find_spec(package) is None:
            raise InputError(f"Deep models need {package}: pip install 'fairrec[paper]'")


TRAINING = "Training"


def _parse_hyper(given: Any) -> Any:
    """A number, or the sizes of layers: 256-128."""
    if not isinstance(given, str):
        return given
    try:
        number = parse_number(given)
    except ValueError:
        return tuple(int(size) for size in given.split("-"))
    if not math.isfinite(number):
        raise ValueError("no finite number")
    return number


Hyper = Annotated[
    Mapping[str, Annotated[Any, BeforeValidator(_parse_hyper)]],
    Pairs,
    Form("name=number or name=number-number", "NAME=NUMBER", is_list=True),
    Option("Hyper-parameters: embedding=16, layers=256-128", TRAINING),
]
Device = Annotated[
    Literal["auto", "cpu", "cuda"],
    Option("Where to compute: cpu, cuda, or auto for CUDA where there is one", TRAINING),
]


@options
class TrainingOptions(Options):
    """How a model is trained."""

    epochs: Annotated[Whole, Field(ge=1), Option("Most passes over the data", TRAINING)] = 30
    patience: Annotated[
        Whole, Field(ge=1), Option("Epochs without a better one before training ends", TRAINING)
    ] = 2
    batch_size: Annotated[Whole, Field(ge=1), Option("Rows in a step", TRAINING)] = 4096
    learning_rate: Annotated[Number, Field(gt=0), Option("Step size of Adam", TRAINING)] = 1e-3
    holdout: Annotated[
        Number,
        Field(gt=0, lt=1),
        Option(
            "Share of the training rows kept out for the loss and AUC of the paper's protocol",
            TRAINING,
        ),
    ] = 0.2
    candidates: Annotated[
        Whole, Field(ge=2), Option("Candidates of a target, itself included", TRAINING)
    ] = 50
    all_positive: Annotated[
        Switch, Option("Count every interaction as positive, whatever its rating", TRAINING)
    ] = False
    features: Annotated[
        Names | None,
        Option(
            "Columns of users and items that the model sees beside the ids",
            TRAINING,
            default="attributes and categories",
        ),
    ] = None
    fixed_negatives: Annotated[
        Switch, Option("Draw the negatives once and not anew in each epoch", TRAINING)
    ] = False
    best_by: Annotated[
        Literal["validation-auc", "holdout-loss"],
        Option(
            "What the kept epoch is best by: the AUC of validation targets, or the loss of the "
            "rows kept out, as in the paper",
            TRAINING,
        ),
    ] = "validation-auc"
    l2: Annotated[
        Number,
        Field(ge=0),
        Option(
            "L2 penalty on embeddings and first-order weights: so much times the sum of squares",
            TRAINING,
        ),
    ] = 0.0
    data_seed: Annotated[
        Annotated[Whole, Field(ge=0, le=2**32 - 1)] | None,
        Option(
            "Seed of targets, candidates and rows kept out, to train again on the same",
            TRAINING,
            default="the seed",
        ),
    ] = None
    seed: Seed = 0
    device: Device = "auto"

    @property
    def seed_of_data(self) -> int:
        """The seed of all that is drawn from the data before training."""
        return self.seed if self.data_seed is None else self.data_seed

    @property
    def torch_device(self) -> torch.device:
        """The device to train on."""
        from fairrec_paper.models.networks import choose_device

        return choose_device(self.device)
